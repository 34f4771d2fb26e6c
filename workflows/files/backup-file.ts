import { proxyActivities } from '@temporalio/workflow';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { BackupFileInput, BackupOutcome } from './backup-file.contract.ts';
import { transferOptions } from './transfer-options.ts';

/** An attempt continues where the previous one stopped: what was copied is in the row. */
export async function backupFile({ queue, objectId }: BackupFileInput): Promise<BackupOutcome> {
  const { copyObject } = proxyActivities<StorageActivities>(transferOptions(queue));
  return copyObject({ objectId });
}
