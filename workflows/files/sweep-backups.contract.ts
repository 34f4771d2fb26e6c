import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { storageQueue } from './transfer-options.ts';

export interface SweepBackupsInput {
  readonly queue: ActivityQueue;
}

export interface BackupSweep {
  /** Copies that are not where they are to be today. */
  readonly moved: number;
  /** Copies that were read again. */
  readonly checked: number;
  /** Those of them that were no longer equal; they are made again. */
  readonly spoilt: number;
}

/** Finds copies that have to be made again, and reads the ones again that were read longest ago. */
export const sweepBackupsContract = defineContract<SweepBackupsInput>({
  name: 'sweepBackups',
  queue: storageQueue,
  workflowId: () => 'sweep-backups',
  schedule: { every: 60_000 },
});
