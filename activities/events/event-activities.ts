import { workContext } from '../clients/temporal/work-origin.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  endDelivery,
  failingAmong,
  lockRecords,
  nextHeld,
  noteFailure,
  readDelivery,
} from '#entities/kit/outbox/deliveries.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { readBatch, settleBatch, type EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { EventDependencies } from './dependencies.ts';
import { deliverSlices, whereOf, type DeliverySlice } from './deliver-record.ts';
import { inputOf } from './delivery-input.ts';
import { deliverOne, inListenerTransaction, isOutage, summaryOf } from './listener-transaction.ts';

export interface DeliveryReference {
  readonly eventId: string;
  readonly occurredAt: string;
  readonly listener: string;
}

export type EventActivities = ReturnType<typeof createEventActivities>;

/** Delivery of events to their listeners. Every activity may run again at any point: the delivery rows decide. */
export function createEventActivities(deps: EventDependencies) {
  const listenerCalled = (name: string) => {
    const listener = deps.listeners.find((candidate) => candidate.name === name);
    if (!listener) throw new Error(`this release has no listener "${name}"; run one that has it, or skip the delivery`);
    return listener;
  };
  const inDatabase = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    deps.database.transact(workContext(systemCaller('event delivery'), 'event-delivery'), work);

  /** Delivers what was held behind a delivery that has ended; returns the one among it that fails, if any. */
  async function deliverHeld({
    listener: name,
    entityId,
  }: {
    readonly listener: string;
    readonly entityId: string;
  }): Promise<DeliverEventInput | undefined> {
    const listener = listenerCalled(name);
    for (;;) {
      const event = await inDatabase((unit) => nextHeld(unit, name, entityId));
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
        await inDatabase((unit) => noteFailure(unit, key, summaryOf(error)));
        return inputOf(event, name, deps);
      }
    }
  }

  return {
    deliverHeld,

    /** Delivers a batch to all its listeners; returns the deliveries that need a workflow of their own. */
    async deliverBatch({
      batchId,
    }: {
      readonly batchId: string;
    }): Promise<{ delivered: number; failing: DeliverEventInput[] }> {
      const events = await inDatabase((unit) => readBatch(unit, batchId));
      const open = events.filter((event) => !event.isSettled);
      const delivered = await deliverSlices(deps, slicesOf(open, deps.listeners));
      // Asked for settled events too: a worker that dies behind the settling has not told anybody of them yet.
      const failing = await inDatabase((unit) => failingAmong(unit, events));
      failpoint('delivery-before-settle');
      if (open.length > 0) await inDatabase((unit) => settleBatch(unit, batchId));
      failpoint('delivery-after-settle');
      const byId = new Map(events.map((event) => [event.id, event]));
      return {
        delivered,
        failing: failing.map(({ eventId, listener }) => inputOf(byId.get(eventId) as EventRow, listener, deps)),
      };
    },

    /** Tries a failing delivery once; done before, it has nothing to do. */
    async deliverFailing(reference: DeliveryReference): Promise<void> {
      const listener = listenerCalled(reference.listener);
      const key = { ...reference, occurredAt: new Date(reference.occurredAt) };
      const known = await inDatabase((unit) => readDelivery(unit, key));
      if (known?.state !== 'failing') return;
      try {
        await inListenerTransaction(deps, listener, known.event.organizationId, async (unit, starts) => {
          await lockRecords(unit, listener.name, [known.event.entityId]);
          const current = await readDelivery(unit, key);
          if (current?.state !== 'failing') return;
          await deliverOne(unit, listener, current.event, starts);
          await starts.run();
          await endDelivery(unit, key, 'done');
        });
      } catch (error) {
        deps.logger.warn({ err: error, ...whereOf(listener, known.event) }, 'a listener failed again');
        await inDatabase((unit) => noteFailure(unit, key, summaryOf(error)));
        throw error;
      }
    },

    /** Gives a failing delivery up, as an operator wished. @returns whether it was still failing */
    async skipFailing(reference: DeliveryReference): Promise<boolean> {
      const key = { ...reference, occurredAt: new Date(reference.occurredAt) };
      return inDatabase(async (unit) => {
        const known = await readDelivery(unit, key);
        if (!known) return false;
        // Whoever holds an event behind this one does so under the lock, and either sees the end or is seen afterwards.
        await lockRecords(unit, key.listener, [known.event.entityId]);
        return endDelivery(unit, key, 'skipped');
      });
    },
  };
}

/** Who has to see what: one slice per listener and organization. */
function slicesOf(events: readonly EventRow[], listeners: EventDependencies['listeners']): DeliverySlice[] {
  return listeners.flatMap((listener) => {
    const wanted = events.filter((event) => listener.topics.includes(event.topic));
    return [...Map.groupBy(wanted, (event) => event.organizationId)].map(([organizationId, group]) => ({
      listener,
      organizationId,
      entityIds: [...new Set(group.map((event) => event.entityId))],
    }));
  });
}
