import { differenceOf } from '../clients/storage/compare-bytes.ts';
import { StorageError } from '../clients/storage/provider.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import {
  claimCopyToCheck,
  confirmCopy,
  copiedPlaces,
  dueMovedCopies,
  spoilCopy,
} from '#entities/kit/objects/object-copies.ts';
import type { BackupSweep } from '#workflows/files/sweep-backups.contract.ts';
import type { StorageWork } from './storage-work.ts';

/** Age of the last reading after which a copy is read again, in milliseconds. */
const checkedEveryMs = 7 * 86_400_000;

/** Most copies of one sweep, and bytes after which it reads no further one. */
const maxChecked = 20;
const maxCheckedBytes = 1024 ** 3;

/** Most copies that one sweep makes due because they have to move. */
const maxMoved = 1_000;

/**
 * Finds copies that are not where they are to be. All copies are compared once for each process and each state of the settings: an object
 * that is restored to another bucket makes its copy due itself.
 */
export class MovedCopies {
  #compared = '';

  async find(work: StorageWork): Promise<number> {
    const { config, storage } = work.dependencies;
    const state = JSON.stringify(config.current.objectstorage.providers);
    if (state === this.#compared) return 0;
    const moved = await work.transact(async (unit) => {
      const targets = (await copiedPlaces(unit)).flatMap((source) => {
        const target = storage.isEnabled(source.provider) ? storage.copyTarget(source) : undefined;
        return target ? [{ source, target }] : [];
      });
      return dueMovedCopies(unit, targets, maxMoved);
    });
    if (moved < maxMoved) this.#compared = state;
    return moved;
  }
}

/** Reads the copies again that were read longest ago. One that is no longer equal to its file is made again. */
export async function checkCopies(work: StorageWork, signal: AbortSignal): Promise<Omit<BackupSweep, 'moved'>> {
  const { database, storageMetrics } = work.dependencies;
  const before = new Date(database.options.clock.now().getTime() - checkedEveryMs);
  let checked = 0;
  let spoilt = 0;
  for (let bytes = 0; checked < maxChecked && bytes < maxCheckedBytes; checked++) {
    const copy = await work.transact((unit) => claimCopyToCheck(unit, before));
    if (!copy) break;
    const { object, location, version } = copy;
    bytes += object.sizeBytes;
    try {
      const provider = work.dependencies.storage.providerOfCopy(location);
      const difference = await differenceOf(provider, location.key, object, { version, signal });
      storageMetrics.checks.inc({ outcome: difference === undefined ? 'equal' : 'different' });
      if (difference === undefined) {
        await work.transact((unit) => confirmCopy(unit, object.id, version));
        continue;
      }
      spoilt += 1;
      work.logger.error({ object_id: object.id, problem: difference }, 'the copy of a file is no longer equal to it');
      await work.transact((unit) => spoilCopy(unit, object.id, version, `copy: ${difference}`));
    } catch (error) {
      if (!(error instanceof StorageError) && !(error instanceof AppError)) throw error;
      work.logger.warn({ err: error, object_id: object.id }, 'the copy of a file could not be read again');
    }
  }
  return { checked, spoilt };
}
