import { Context } from '@temporalio/activity';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { recordFileOperation, type FileOperation } from '#entities/kit/objects/file-operations.ts';
import type { AuditedPlace, AuditReport } from '#workflows/files/audit-storage.contract.ts';
import type { BackupOutcome } from '#workflows/files/backup-file.contract.ts';
import type { CheckOutcome } from '#workflows/files/check-upload.contract.ts';
import type { RestoreOutcome } from '#workflows/files/restore-file.contract.ts';
import type { BackupSweep } from '#workflows/files/sweep-backups.contract.ts';
import { auditPage, placesToAudit, reportAudit, type AuditedPage } from './audit-place.ts';
import { checkCopies, MovedCopies } from './check-copies.ts';
import { checkUpload } from './check-arrived.ts';
import { copyObject } from './copy-object.ts';
import { markFilesForRemoval, removeMarkedFiles, removeReplayedUploads, type RemovedPage } from './remove-objects.ts';
import { objectsToRestore, restoreObject, type ObjectsToRestore } from './restore-object.ts';
import { StorageWork, type StorageDependencies } from './storage-work.ts';

export type { AuditedPage };

export type StorageActivities = ReturnType<typeof createStorageActivities>;

/** Keeps stored bytes, and removes them. */
export const createStorageActivities = defineActivities((dependencies: StorageDependencies) => {
  const work = new StorageWork(dependencies);
  const moved = new MovedCopies();
  /** Ends reads that are under way when the activity is cancelled, for example because the worker stops. */
  const signal = () => Context.current().cancellationSignal;
  return {
    checkUpload: ({ uploadId }: { readonly uploadId: string }): Promise<CheckOutcome> =>
      checkUpload(work, uploadId, signal()),

    copyObject: ({ objectId }: { readonly objectId: string }): Promise<BackupOutcome> =>
      copyObject(work, objectId, signal()),

    findMovedCopies: (): Promise<number> => moved.find(work),

    checkCopies: (): Promise<Omit<BackupSweep, 'moved'>> => checkCopies(work, signal()),

    restoreObject: ({ objectId }: { readonly objectId: string }): Promise<RestoreOutcome> =>
      restoreObject(work, objectId, signal()),

    objectsToRestore: (page: {
      readonly which: 'missing' | 'all';
      readonly after: string;
    }): Promise<ObjectsToRestore> => objectsToRestore(work, page),

    /** Keeps who did what to files and why. */
    async recordOperation(operation: FileOperation): Promise<void> {
      await work.transact((unit) => recordFileOperation(unit, operation));
      work.logger.info(operation, 'an operator works on files');
    },

    markFilesForRemoval: ({ objectId }: { readonly objectId?: string }): Promise<boolean> =>
      markFilesForRemoval(work, objectId),

    removeMarkedFiles: (page: { readonly after: string; readonly objectId?: string }): Promise<RemovedPage> =>
      removeMarkedFiles(work, page),

    removeReplayedUploads: (page: { readonly after: string }): Promise<Omit<RemovedPage, 'removed'>> =>
      removeReplayedUploads(work, page),

    placesToAudit: (): Promise<AuditedPlace[]> => placesToAudit(work),

    auditPage: (page: { readonly place: AuditedPlace; readonly after: string }): Promise<AuditedPage> =>
      auditPage(work, page),

    async reportAudit(report: AuditReport): Promise<void> {
      reportAudit(work, report);
    },
  };
});
