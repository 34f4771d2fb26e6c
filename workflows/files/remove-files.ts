import { continueAsNew, patched, proxyActivities } from '@temporalio/workflow';
import type { RemovedPage } from '#activities/files/remove-objects.ts';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { RemovalReport, RemoveFilesInput } from './remove-files.contract.ts';
import { statementOptions, transferOptions } from './transfer-options.ts';

/** Pages of one kind in one run, so that its history stays short. */
const maxPages = 200;

export async function removeFiles(input: RemoveFilesInput): Promise<RemovalReport> {
  const { queue, objectId, asked } = input;
  const { recordOperation, markFilesForRemoval } = proxyActivities<StorageActivities>(statementOptions(queue));
  const { removeMarkedFiles, removeReplayedUploads } = proxyActivities<StorageActivities>(transferOptions(queue));
  if (objectId !== undefined && asked) await recordOperation({ operation: 'purge', objectId, ...asked });
  const { after: first = '', ...whole } = input;
  const hasMore = await markFilesForRemoval(objectId === undefined ? {} : { objectId });
  let removed = 0;
  let left = 0;
  let after: string | null = first;
  for (let pages = 0; after !== null && pages < maxPages; pages++) {
    const page: RemovedPage = await removeMarkedFiles({ after, ...(objectId === undefined ? {} : { objectId }) });
    removed += page.removed;
    left += page.left;
    after = page.next;
  }
  if (after === null && hasMore) return continueAsNew<typeof removeFiles>(whole);
  // Else nothing can be deleted now; the next run of the schedule tries again.
  if (after !== null && removed > 0) return continueAsNew<typeof removeFiles>({ ...whole, after });
  // A run that began where marking did this continues without it.
  if (objectId !== undefined || !patched('remove-replayed-uploads')) return { removed, left };
  after = '';
  for (let pages = 0; after !== null && pages < maxPages; pages++) {
    const page: Omit<RemovedPage, 'removed'> = await removeReplayedUploads({ after });
    left += page.left;
    after = page.next;
  }
  return { removed, left };
}
