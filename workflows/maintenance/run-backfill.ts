import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, proxyActivities, startChild } from '@temporalio/workflow';
import type { BackfillActivities } from '#activities/backfills/backfill-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { childId } from '../kit/child-id.ts';
import { workflowTaskTimeoutMs } from '../kit/contract.ts';
import type { MaintenanceInput } from '../kit/maintenance-queue.ts';
import { runBackfillRoutineContract } from './run-backfill-routine.contract.ts';

/** One child for each backfill, which outlives this workflow; it may be running since an earlier start. */
export async function runBackfill({ queue }: MaintenanceInput): Promise<void> {
  const { wantedBackfills } = proxyActivities<BackfillActivities>(activityOptions(queue));
  for (const wanted of await wantedBackfills())
    try {
      await startChild(runBackfillRoutineContract.name, {
        args: [{ ...wanted, queue }],
        workflowId: childId(runBackfillRoutineContract, wanted),
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowTaskTimeout: workflowTaskTimeoutMs(queue.heartbeatTimeoutMs),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
}
