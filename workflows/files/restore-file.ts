import { proxyActivities } from '@temporalio/workflow';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { RestoreFileInput, RestoreOutcome } from './restore-file.contract.ts';
import { statementOptions, transferOptions } from './transfer-options.ts';

export async function restoreFile({ queue, objectId, asked }: RestoreFileInput): Promise<RestoreOutcome> {
  const { recordOperation } = proxyActivities<StorageActivities>(statementOptions(queue));
  const { restoreObject } = proxyActivities<StorageActivities>(transferOptions(queue));
  if (asked) await recordOperation({ operation: 'restore', objectId, ...asked });
  return restoreObject({ objectId });
}
