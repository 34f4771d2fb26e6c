import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { childId } from '../kit/child-id.ts';
import { workflowTaskTimeoutMs } from '../kit/contract.ts';
import { searchPairs } from '../kit/search-pairs.ts';
import { deliverEventContract, searchOfDelivery, type DeliverEventInput } from './deliver-event.contract.ts';

/** Starts the workflow of a failing delivery, which outlives this one; it may be running since an earlier attempt. */
export async function startDelivery(input: DeliverEventInput): Promise<void> {
  try {
    await startChild(deliverEventContract.name, {
      args: [input],
      workflowId: childId(deliverEventContract, input),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: workflowTaskTimeoutMs(input.queue.heartbeatTimeoutMs),
      typedSearchAttributes: searchPairs(searchOfDelivery(input)),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
