import type { Headers, Next } from '@temporalio/common';
import type {
  ActivityInput,
  LocalActivityInput,
  StartChildWorkflowExecutionInput,
  WorkflowExecuteInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptorsFactory,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { originHeader } from './contract.ts';

/**
 * Passes the origin of a workflow (request id, trace, actor) to its activities and children. The payload of the header is
 * passed as it came, without decoding.
 */
class OriginCarrier implements WorkflowInboundCallsInterceptor, WorkflowOutboundCallsInterceptor {
  #headers: Headers = {};

  execute(input: WorkflowExecuteInput, next: Next<WorkflowInboundCallsInterceptor, 'execute'>): Promise<unknown> {
    const carried = input.headers[originHeader];
    if (carried) this.#headers = { [originHeader]: carried };
    return next(input);
  }

  scheduleActivity(
    input: ActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'scheduleActivity'>,
  ): Promise<unknown> {
    return next({ ...input, headers: { ...this.#headers, ...input.headers } });
  }

  scheduleLocalActivity(
    input: LocalActivityInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'scheduleLocalActivity'>,
  ): Promise<unknown> {
    return next({ ...input, headers: { ...this.#headers, ...input.headers } });
  }

  startChildWorkflowExecution(
    input: StartChildWorkflowExecutionInput,
    next: Next<WorkflowOutboundCallsInterceptor, 'startChildWorkflowExecution'>,
  ): Promise<[Promise<string>, Promise<unknown>]> {
    return next({ ...input, headers: { ...this.#headers, ...input.headers } });
  }
}

export const interceptors: WorkflowInterceptorsFactory = () => {
  const carrier = new OriginCarrier();
  return { inbound: [carrier], outbound: [carrier] };
};
