import { newId } from '#entities/kit/base/ids.ts';
import type { WorkflowWake } from '#entities/kit/outbox/workflow-wakes.ts';
import type { StartInput, WorkflowContract } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';

/** An update of a workflow, or a signal. */
export interface WakingMessage {
  readonly name: string;
  /** The same id is the same update; null for a signal. */
  readonly id: string | null;
}

/**
 * A wake of a workflow, to be kept with the transaction that it follows (`keepWakes`).
 * @param message sent in place of the signal of the contract
 * @throws TypeError for a workflow that is not woken
 */
export function wakeOf<Input extends object>(
  contract: WorkflowContract<Input>,
  input: StartInput<Input>,
  search: SearchValues,
  message?: WakingMessage,
): WorkflowWake {
  const { name, queue = null, wakeSignal } = contract;
  if (wakeSignal === undefined) throw new TypeError(`the contract of ${name} names no wakeSignal`);
  const { name: signal, id: updateId } = message ?? { name: wakeSignal, id: null };
  return { id: newId(), name, workflowId: contract.workflowId(input), queue, signal, updateId, input, search };
}
