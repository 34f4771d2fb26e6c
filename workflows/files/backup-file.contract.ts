import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { storageQueue } from './transfer-options.ts';

export interface BackupFileInput {
  readonly queue: ActivityQueue;
  readonly objectId: string;
}

/**
 * - `verified`: there is a copy that was read back and is equal.
 * - `failed`: there is none; the row of the copy says why.
 * - `superseded`: a later run has taken over.
 * - `unneeded`: no record owns the object, or its provider has no backup.
 */
export type BackupOutcome = 'verified' | 'failed' | 'superseded' | 'unneeded';

/** Copies one object to where its backup is to be. */
export const backupFileContract = defineContract<BackupFileInput>({
  name: 'backupFile',
  queue: storageQueue,
  workflowId: ({ objectId }) => `backup/${objectId}`,
});
