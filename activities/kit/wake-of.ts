import { newId } from '#entities/kit/base/ids.ts';
import type { WorkflowWake } from '#entities/kit/outbox/workflow-wakes.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';

/** An update of a workflow. The same id is the same update. */
export interface WakingUpdate {
  readonly name: string;
  readonly id: string;
}

/**
 * A wake of a workflow, to be kept with the transaction that it follows (`keepWakes`).
 * @param update sent in place of the signal of the contract
 * @throws TypeError for a workflow that is not woken
 */
export function wakeOf<Input extends object>(
  contract: WorkflowContract<Input>,
  input: StartInput<Input>,
  search: SearchValues,
  update?: WakingUpdate,
): WorkflowWake {
  const { name, queue = null, wakeSignal } = contract;
  if (wakeSignal === undefined) throw new TypeError(`the contract of ${name} names no wakeSignal`);
  const { name: signal, id: updateId } = update ?? { name: wakeSignal, id: null };
  return { id: newId(), name, workflowId: contract.workflowId(input), queue, signal, updateId, input, search };
}
