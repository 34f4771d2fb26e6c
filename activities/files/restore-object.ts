import { DifferentBytesError, differenceOf, versionOfEqual } from '../clients/storage/compare-bytes.ts';
import { StorageError } from '../clients/storage/provider.ts';
import { transferObject } from '../clients/storage/transfer-object.ts';
import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { reinstateCopy, spoilCopy } from '#entities/kit/objects/object-copies.ts';
import {
  isSameLocation,
  moveObject,
  promoteCopy,
  readRestorable,
  restorablePage,
  type RestorableObject,
} from '#entities/kit/objects/object-rows.ts';
import type { RestoreOutcome } from '#workflows/files/restore-file.contract.ts';
import { couldNot, type StorageWork } from './storage-work.ts';

/**
 * Brings the bytes of an object back from its copy, unless they are as they should be. They are written where new objects of the provider
 * are stored today, read back and compared; then the row says where they are. A copy that was not valid is tried as well, because its bytes
 * are compared anyway. One that is where objects are stored today becomes the object itself.
 */
export async function restoreObject(work: StorageWork, objectId: string, signal: AbortSignal): Promise<RestoreOutcome> {
  const object = await work.transact((unit) => readRestorable(unit, objectId));
  if (!object) return 'unknown';
  try {
    const outcome = await restore(work, object, signal);
    work.dependencies.storageMetrics.restores.inc({ outcome });
    const line = { object_id: objectId, organization_id: object.organizationId, outcome };
    if (outcome === 'restored') work.logger.info(line, 'a file was restored from its copy');
    else if (outcome !== 'intact') work.logger.error(line, 'a file could not be restored');
    return outcome;
  } catch (error) {
    if (!(error instanceof StorageError) || signal.aborted) throw error;
    throw couldNot('restore a file', error);
  }
}

async function restore(work: StorageWork, object: RestorableObject, signal: AbortSignal): Promise<RestoreOutcome> {
  const { location, copy } = object;
  const { storage } = work.dependencies;
  const difference = await differenceOf(storage.providerFor(location), location.key, object, {
    version: object.version,
    signal,
  });
  if (difference === undefined) return 'intact';
  if (!copy) return 'no-copy';
  const today = storage.enabledBuckets.find(({ provider }) => provider === location.provider);
  const home = { ...location, ...today };
  const broken = async (problem: string): Promise<RestoreOutcome> => {
    if (!copy.isVerified) return copy.version === null ? 'no-copy' : 'broken-copy';
    await work.transact((unit) => spoilCopy(unit, object.id, copy.version ?? '', `copy: ${problem}`));
    return 'broken-copy';
  };
  const provider = storage.providerFor(home);
  if (isSameLocation(home, copy.location)) {
    const version = await versionOfEqual(provider, home.key, object, signal);
    if (version === undefined) return broken('it is no longer equal');
    return (await work.transact((unit) => promoteCopy(unit, object.id, { location: home, version })))
      ? 'restored'
      : 'unknown';
  }
  const source = storage.providerOfCopy(copy.location);
  const found = await source.head(copy.location.key);
  if (!found) return broken('it does not exist');
  let version: string;
  try {
    version = await transferObject({
      from: { provider: source, key: copy.location.key, version: found.version },
      to: { provider, key: home.key },
      expected: object,
      signal,
    });
  } catch (error) {
    if (!(error instanceof DifferentBytesError)) throw error;
    return broken(error.message);
  }
  failpoint('restore-written');
  if (!copy.isVerified)
    await work.transact((unit) => reinstateCopy(unit, object.id, { location: copy.location, version: found.version }));
  const written = await differenceOf(provider, home.key, object, { version, signal });
  if (written !== undefined) throw new StorageError('broken', `${home.key} was restored, but ${written}.`);
  if (await work.transact((unit) => moveObject(unit, object.id, { location: home, version }))) return 'restored';
  await work.discard(home);
  return 'unknown';
}

/** Objects that one page examines. */
const pageSize = 100;

/** How many of them at the same time. */
const maxConcurrent = 8;

export interface ObjectsToRestore {
  readonly examined: number;
  readonly objectIds: readonly string[];
  /** Objects that nobody can ask about, because their provider is disabled. */
  readonly unreadable?: readonly string[];
  /** After which the next page begins; null at the end. */
  readonly next: string | null;
}

/** A page of objects that are to be restored: all, or those that are not there or have another size. */
export async function objectsToRestore(
  work: StorageWork,
  { which, after }: { readonly which: 'missing' | 'all'; readonly after: string },
): Promise<ObjectsToRestore> {
  const page = await work.transact((unit) => restorablePage(unit, { after, limit: pageSize }));
  const next = page.length === pageSize ? (page.at(-1)?.id ?? null) : null;
  if (which === 'all') return { examined: page.length, objectIds: page.map(({ id }) => id), next };
  const { storage } = work.dependencies;
  const missing: string[] = [];
  const unreadable: string[] = [];
  const look = async ({ id, location, sizeBytes }: RestorableObject) => {
    try {
      const found = await storage.providerFor(location).head(location.key);
      if (found?.sizeBytes !== sizeBytes) missing.push(id);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'storage_unavailable')) throw error;
      work.logger.warn({ err: error, object_id: id }, 'nobody can say whether the bytes of a file are there');
      unreadable.push(id);
    }
  };
  try {
    await concurrently(page, maxConcurrent, look);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw couldNot('say which files are there', error);
  }
  return { examined: page.length, objectIds: missing.toSorted(), unreadable, next };
}
