import { newId } from '#entities/kit/base/ids.ts';
import type { WorkflowWake } from '#entities/kit/outbox/workflow-wakes.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';

/** A wake of a workflow, to be kept with the transaction that it follows (`keepWakes`). @throws TypeError for a workflow that is not woken */
export function wakeOf<Input extends object>(
  contract: WorkflowContract<Input>,
  input: StartInput<Input>,
  search: SearchValues,
): WorkflowWake {
  const { name, queue = null, wakeSignal: signal } = contract;
  if (signal === undefined) throw new TypeError(`the contract of ${name} names no wakeSignal`);
  return { id: newId(), name, workflowId: contract.workflowId(input), queue, signal, input, search };
}
