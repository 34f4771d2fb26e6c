import type { Logger } from 'pino';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { StorageError } from '../clients/storage/provider.ts';
import { storageUnavailable } from '../clients/storage/storage-problem.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { isNamed } from '#entities/kit/objects/object-rows.ts';
import type { Location } from '#entities/kit/objects/stored-object.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export type StorageDependencies = Pick<
  ActivityDependencies,
  'config' | 'database' | 'fileReceiver' | 'logger' | 'storage' | 'storageMetrics'
>;

/** Services that the activities of storage share: short transactions as the server, and the providers of places. */
export class StorageWork {
  readonly dependencies: StorageDependencies;

  constructor(dependencies: StorageDependencies) {
    this.dependencies = dependencies;
  }

  get logger(): Logger {
    return this.dependencies.logger;
  }

  /** Bytes flow between two of these, never inside. */
  transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const context = workContext(systemCaller('storage'), `storage-${newId()}`);
    return this.dependencies.database.transact(context, work);
  }

  /**
   * Deletes what is of no use any more, but never the bytes of an object or of a verified copy, whichever region the location has. A
   * provider that cannot do it does not stop the work: the audit reports objects that are left.
   */
  async discard(location: Location, parts?: Readonly<Record<string, string | number>>): Promise<void> {
    try {
      const provider = this.dependencies.storage.providerOfCopy(location);
      if (parts) await provider.abortParts(parts);
      if (await this.transact((unit) => isNamed(unit, location))) return;
      await provider.delete([location.key]);
    } catch (error) {
      if (!(error instanceof StorageError) && !(error instanceof AppError)) throw error;
      this.logger.warn({ err: error, ...location }, 'bytes that are of no use could not be deleted');
    }
  }
}

/** The error with which an activity is tried again. */
export function couldNot(doing: string, cause: StorageError): AppError {
  return storageUnavailable(`The storage could not ${doing}: ${cause.message}`, cause);
}
