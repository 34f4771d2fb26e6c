import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { TransfersActivities } from '#activities/transfers/transfers-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { longOptions, type TransferInput, type TransferOutcome } from './transfer-input.ts';

/** Writes the pages of a document and stores it. An attempt continues behind the last page that was kept. */
export async function exportRecords({ queue, ...work }: TransferInput): Promise<TransferOutcome> {
  const { beginExport, failExport } = proxyActivities<TransfersActivities>(activityOptions(queue));
  const { writeExportPages, storeExport } = proxyActivities<TransfersActivities>(longOptions(queue));
  try {
    // Each says whether the work continues: it may have been cancelled, deleted or refused.
    const isDone = (await beginExport(work)) && (await writeExportPages(work)) && (await storeExport(work));
    return isDone ? 'completed' : 'ended';
  } catch {
    // The log of the worker has the error.
    await CancellationScope.nonCancellable(() => failExport(work));
    return 'failed';
  }
}
