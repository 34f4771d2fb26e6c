import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { TransfersActivities } from '#activities/transfers/transfers-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { longOptions, type TransferInput, type TransferOutcome } from './transfer-input.ts';

/** Checks a document, then writes its records in one transaction. */
export async function importRecords({ queue, ...work }: TransferInput): Promise<TransferOutcome> {
  const { beginImport, failImport } = proxyActivities<TransfersActivities>(activityOptions(queue));
  const { checkImport, writeImport } = proxyActivities<TransfersActivities>(longOptions(queue));
  try {
    // Each says whether the work continues: it may have been cancelled, deleted or refused.
    const isDone = (await beginImport(work)) && (await checkImport(work)) && (await writeImport(work));
    return isDone ? 'completed' : 'ended';
  } catch {
    // The log of the worker has the error.
    await CancellationScope.nonCancellable(() => failImport(work));
    return 'failed';
  }
}
