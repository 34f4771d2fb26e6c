import { StorageError } from '../clients/storage/provider.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { StorageWork } from './storage-work.ts';

/** Longer than uploads can be continued, in milliseconds. A copy that is continued even later begins anew. */
const unfinishedAfterMs = 8 * 86_400_000;

/**
 * Removes unfinished writes of this installation that nobody continues. A process that is killed while it writes leaves one; the attempt
 * after it writes another, and no row says where the first one is.
 */
export async function removeUnfinished(work: StorageWork): Promise<void> {
  const { storage, database } = work.dependencies;
  const before = new Date(database.options.clock.now().getTime() - unfinishedAfterMs);
  for (const bucket of storage.enabledBuckets)
    for (const place of [bucket, storage.copyTarget(bucket)]) {
      if (!place) continue;
      try {
        await storage.providerOfCopy(place).removeUnfinished?.(`${await storage.installation()}/`, before);
      } catch (error) {
        if (!(error instanceof StorageError) && !(error instanceof AppError)) throw error;
        work.logger.warn({ err: error, ...place }, 'unfinished writes stay until they can be removed');
      }
    }
}
