import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import type { OperatorReason } from './restore-file.contract.ts';
import { storageQueue } from './transfer-options.ts';

export interface RemoveFilesInput {
  readonly queue: ActivityQueue;
  /** Only this object, and whenever it was released: an operator purges it. */
  readonly objectId?: string;
  /** Operator who asked for that, and the reason. */
  readonly asked?: OperatorReason;
  /** Where the run before this one stopped. */
  readonly after?: string;
}

export interface RemovalReport {
  /** Objects whose bytes, copies and rows are gone. */
  readonly removed: number;
  /** Objects and used uploads whose bytes could not be deleted; the next run tries again. */
  readonly left: number;
}

/** Deletes bytes, copies and rows of objects that were released a week ago, and of uploads that nobody used. */
export const removeFilesContract = defineContract<RemoveFilesInput>({
  name: 'removeFiles',
  queue: storageQueue,
  workflowId: ({ objectId }) => (objectId === undefined ? 'remove-files' : `purge/${objectId}`),
  schedule: { every: 3_600_000 },
});
