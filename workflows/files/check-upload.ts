import { proxyActivities } from '@temporalio/workflow';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { CheckOutcome, CheckUploadInput } from './check-upload.contract.ts';
import { transferOptions } from './transfer-options.ts';

/** It can be repeated: what was checked before is ready, and the bytes that arrived stay until then. */
export async function checkUpload({ queue, uploadId }: CheckUploadInput): Promise<CheckOutcome> {
  const { checkUpload: check } = proxyActivities<StorageActivities>(transferOptions(queue));
  return check({ uploadId });
}
