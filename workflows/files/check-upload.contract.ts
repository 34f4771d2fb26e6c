import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { storageQueue } from './transfer-options.ts';

export interface CheckUploadInput {
  readonly queue: ActivityQueue;
  readonly uploadId: string;
}

/**
 * - `ready`: a record can take the file.
 * - `refused`: it is not what was announced, or of a type that its name denies; the row of the upload says why.
 * - `gone`: it was given up, or has expired.
 */
export type CheckOutcome = 'ready' | 'refused' | 'gone';

/** Reads an upload whose bytes have all arrived, and moves them to where no link can change them. */
export const checkUploadContract = defineContract<CheckUploadInput>({
  name: 'checkUpload',
  queue: storageQueue,
  workflowId: ({ uploadId }) => `upload/${uploadId}`,
});
