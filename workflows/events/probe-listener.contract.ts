import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { deliveryQueue } from './deliver-event.contract.ts';

export interface ProbeListenerInput {
  readonly queue: ActivityQueue;
  readonly listener: string;
  /** Probes since the listener was held, in the runs before this one. */
  readonly probes?: number;
}

/** Tries a listener that fails on everything until it handles an event, then gives back what has waited for it. */
export const probeListenerContract = defineContract<ProbeListenerInput>({
  name: 'probeListener',
  queue: deliveryQueue,
  workflowId: probingWorkflowId,
});

/** Id of the workflow of a listener, without the prefix of the installation. */
export function probingWorkflowId({ listener }: Pick<ProbeListenerInput, 'listener'>): string {
  return `listener/${listener}`;
}

/** Says that the listener is held since a moment ago. */
export const listenerHeldSignal = 'listenerHeld';

/** Tries the listener at once; operators can send it in the Temporal UI. */
export const probeListenerSignal = 'probeListener';
