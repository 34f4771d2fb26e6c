import { endDelivery, firstOpen, lockRecords, noteFailure } from '#entities/kit/outbox/deliveries.ts';
import { isListenerHeld, noteListenerFailure } from '#entities/kit/outbox/listener-states.ts';
import type { DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { Listener } from '../listeners/listener.ts';
import { whereOf } from './deliver-record.ts';
import { inputOf } from './delivery-input.ts';
import { beginProbing } from './held-listener.ts';
import {
  deliverOne,
  inDeliveryTransaction,
  inListenerTransaction,
  isOutage,
  summaryOf,
  type EventDependencies,
} from './listener-transaction.ts';

/** Events of one record that are held for one listener. */
export interface HeldEvents {
  readonly listener: string;
  readonly entityId: string;
}

/** @throws Error when this release has no such listener */
export function listenerCalled({ listeners }: Pick<EventDependencies, 'listeners'>, name: string): Listener {
  const listener = listeners.find((candidate) => candidate.name === name);
  if (!listener) throw new Error(`this release has no listener "${name}"; run one that has it, or skip the delivery`);
  return listener;
}

/**
 * Delivers, one after the other, what was held behind a delivery that has ended. It may run again at any point, also beside another run of
 * itself: an event that an earlier run has found to fail holds up those behind it.
 * @returns input of the workflow of the first one that fails; undefined when none does
 */
export async function deliverHeld(
  deps: EventDependencies,
  { listener: name, entityId }: HeldEvents,
): Promise<DeliverEventInput | undefined> {
  const listener = listenerCalled(deps, name);
  for (;;) {
    const open = await inDeliveryTransaction(deps, async (unit) => {
      const first = await firstOpen(unit, name, entityId);
      // Held ones follow when the listener is let go.
      return first?.state === 'held' && (await isListenerHeld(unit, name)) ? undefined : first;
    });
    if (!open) return undefined;
    const { event } = open;
    // Its workflow may not have been started.
    if (open.state === 'failing') return inputOf(event, name, deps);
    const key = { eventId: event.id, occurredAt: event.occurredAt, listener: name };
    try {
      await inListenerTransaction(deps, listener, event.organizationId, async (unit, starts) => {
        await lockRecords(unit, name, [entityId]);
        const current = await firstOpen(unit, name, entityId);
        if (current?.state !== 'held' || current.event.id !== event.id) return;
        await deliverOne(deps, unit, listener, event, starts);
        await starts.run();
        await endDelivery(unit, key, 'done');
      });
    } catch (error) {
      if (isOutage(error)) throw error;
      deps.logger.error({ err: error, ...whereOf(listener, event) }, 'a listener fails on a held event too');
      const { topics } = listener;
      const { organizationId } = event;
      const failure = { listener: name, topics, organizationId, error: summaryOf(error) };
      const isHeldNow = await inDeliveryTransaction(deps, async (unit) =>
        // It may have been delivered, or given back to the relay, since.
        (await noteFailure(unit, key, failure.error)) ? noteListenerFailure(unit, failure) : false,
      );
      if (isHeldNow) await beginProbing(deps, name);
    }
  }
}
