import { proxyActivities } from '@temporalio/workflow';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { BackupSweep, SweepBackupsInput } from './sweep-backups.contract.ts';
import { statementOptions, transferOptions } from './transfer-options.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function sweepBackups({ queue }: SweepBackupsInput): Promise<BackupSweep> {
  const retry = { maximumAttempts: 3 };
  const { findMovedCopies } = proxyActivities<StorageActivities>({ ...statementOptions(queue), retry });
  const { checkCopies } = proxyActivities<StorageActivities>({ ...transferOptions(queue), retry });
  const moved = await findMovedCopies();
  return { moved, ...(await checkCopies()) };
}
