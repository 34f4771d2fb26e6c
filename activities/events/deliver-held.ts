import { endDelivery, lockRecords, nextHeld, noteFailure, readDelivery } from '#entities/kit/outbox/deliveries.ts';
import { isListenerHeld, noteListenerFailure } from '#entities/kit/outbox/listener-states.ts';
import type { DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { Listener } from '../listeners/listener.ts';
import { whereOf } from './deliver-record.ts';
import { inputOf } from './delivery-input.ts';
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
 * Delivers, one after the other, what was held behind a delivery that has ended.
 * @returns input of the workflow of the first one that fails; undefined when none does
 */
export async function deliverHeld(
  deps: EventDependencies,
  { listener: name, entityId }: HeldEvents,
): Promise<DeliverEventInput | undefined> {
  const listener = listenerCalled(deps, name);
  for (;;) {
    const event = await inDeliveryTransaction(deps, async (unit) =>
      // They follow when it is let go.
      (await isListenerHeld(unit, name)) ? undefined : nextHeld(unit, name, entityId),
    );
    if (!event) return undefined;
    const key = { eventId: event.id, occurredAt: event.occurredAt, listener: name };
    try {
      await inListenerTransaction(deps, listener, event.organizationId, async (unit, starts) => {
        await lockRecords(unit, name, [entityId]);
        const current = await readDelivery(unit, key);
        if (current?.state !== 'held') return;
        await deliverOne(unit, listener, event, starts);
        await starts.run();
        await endDelivery(unit, key, 'done');
      });
    } catch (error) {
      if (isOutage(error)) throw error;
      deps.logger.error({ err: error, ...whereOf(listener, event) }, 'a listener fails on a held event too');
      await inDeliveryTransaction(deps, async (unit) => {
        await noteFailure(unit, key, summaryOf(error));
        await noteListenerFailure(unit, name, summaryOf(error));
      });
      return inputOf(event, name, deps);
    }
  }
}
