import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { executeChild, isCancellation, ParentClosePolicy } from '@temporalio/workflow';
import type { ActivityQueue } from '../kit/activity-queue.ts';
import { childId } from '../kit/child-id.ts';
import { workflowTaskTimeoutMs } from '../kit/contract.ts';
import type { restoreFile } from './restore-file.ts';
import { restoreFileContract } from './restore-file.contract.ts';
import type { ChildOutcome, RestoredObject, RestoreReport } from './restore-files.contract.ts';

/** Most objects that one run restores at the same time. */
const maxConcurrent = 10;

/** Most objects that a report names. */
const maxSamples = 100;

export const emptyRestoreReport: RestoreReport = {
  examined: 0,
  counts: { restored: 0, intact: 0, 'no-copy': 0, 'broken-copy': 0, unknown: 0, running: 0, error: 0 },
  lost: [],
};

/** Restores objects, each by a workflow of its own; one that fails does not stop the others. */
export async function restoreChildren(
  queue: ActivityQueue,
  objectIds: readonly string[],
): Promise<readonly RestoredObject[]> {
  const waiting = [...objectIds];
  const restored: RestoredObject[] = [];
  const work = async () => {
    for (let objectId = waiting.shift(); objectId !== undefined; objectId = waiting.shift())
      restored.push({ objectId, outcome: await restoreOne(queue, objectId) });
  };
  await Promise.all(Array.from({ length: maxConcurrent }, work));
  return restored;
}

async function restoreOne(queue: ActivityQueue, objectId: string): Promise<ChildOutcome> {
  try {
    return await executeChild<typeof restoreFile>(restoreFileContract.name, {
      args: [{ queue, objectId }],
      workflowId: childId(restoreFileContract, { objectId }),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: workflowTaskTimeoutMs(queue.heartbeatTimeoutMs),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'running';
    if (isCancellation(error)) throw error;
    // Its own run shows the failure.
    return 'error';
  }
}

export function withRestored(
  { examined, counts, lost }: RestoreReport,
  more: number,
  outcomes: readonly RestoredObject[],
): RestoreReport {
  const counted = { ...counts };
  for (const { outcome } of outcomes) counted[outcome] += 1;
  const failed = outcomes.filter(({ outcome }) => outcome !== 'restored' && outcome !== 'intact');
  return { examined: examined + more, counts: counted, lost: [...lost, ...failed].slice(0, maxSamples) };
}
