import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { storageQueue } from './transfer-options.ts';

/** Operator who asked for it, and the reason. */
export interface OperatorReason {
  readonly operator: string;
  readonly reason: string;
}

export interface RestoreFileInput {
  readonly queue: ActivityQueue;
  readonly objectId: string;
  readonly asked?: OperatorReason;
}

/**
 * - `restored`: its bytes were missing or different, and have been written from the copy, read back and compared.
 * - `intact`: its bytes are as they should be.
 * - `no-copy`: they are not, and there is no copy.
 * - `broken-copy`: they are not, and the copy is not either.
 * - `unknown`: there is no such object, or it is being removed.
 */
export type RestoreOutcome = 'restored' | 'intact' | 'no-copy' | 'broken-copy' | 'unknown';

/** Brings the bytes of one object back from its copy. */
export const restoreFileContract = defineContract<RestoreFileInput>({
  name: 'restoreFile',
  queue: storageQueue,
  workflowId: ({ objectId }) => `restore/${objectId}`,
});
