import { Context } from '@temporalio/activity';
import { endDelivery, failingAmong, lockRecords, noteFailure, readDelivery } from '#entities/kit/outbox/deliveries.ts';
import { countDeliveries, listDeliveries, type DeliveryGroup } from '#entities/kit/outbox/delivery-list.ts';
import { recordRepair, type Repair } from '#entities/kit/outbox/delivery-repairs.ts';
import { noteListenerSuccess } from '#entities/kit/outbox/listener-states.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { readBatch, settleBatch, type EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { isRefusal } from '#entities/kit/base/errors.ts';
import type { DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { RepairPosition, RepairSelection } from '#workflows/events/repair-deliveries.contract.ts';
import { wantedListeners } from '../listeners/wanted-listeners.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { deliverHeld, listenerCalled, type HeldEvents } from './deliver-held.ts';
import { deliverSlices, whereOf, type DeliverySlice } from './deliver-record.ts';
import { inputOf } from './delivery-input.ts';
import { ListenerHealth } from './listener-health.ts';
import { beginProbing, giveBack, probeListener, type Probe } from './held-listener.ts';
import { repairPage, type RepairedPage } from './repair-page.ts';
import { notifyOperator } from './notify-operator.ts';
import {
  deliverOne,
  inDeliveryTransaction,
  inListenerTransaction,
  summaryOf,
  type EventDependencies,
} from './listener-transaction.ts';

interface DeliveryReference {
  readonly eventId: string;
  readonly occurredAt: string;
  readonly listener: string;
}

interface HeldName {
  readonly listener: string;
}

interface RepairStep {
  readonly selection: RepairSelection;
  readonly after?: RepairPosition;
  readonly limit: number;
}

export type EventActivities = ReturnType<typeof createEventActivities>;

/** Delivery of events to their listeners. Every activity may run again at any point: the delivery rows decide. */
export const createEventActivities = defineActivities((deps: EventDependencies) => {
  const inDatabase = <T>(work: (unit: UnitOfWork) => Promise<T>) => inDeliveryTransaction(deps, work);

  return {
    /** Delivers what was held behind a delivery that has ended; returns the first of it that fails, if any. */
    deliverHeld: (hold: HeldEvents): Promise<DeliverEventInput | undefined> => deliverHeld(deps, hold),

    /** Delivers a batch to all its listeners; returns the deliveries that need a workflow of their own. */
    async deliverBatch({
      batchId,
    }: {
      readonly batchId: string;
    }): Promise<{ delivered: number; failing: DeliverEventInput[] }> {
      const [events, health] = await inDatabase(
        async (unit) => [await readBatch(unit, batchId), await ListenerHealth.read(unit)] as const,
      );
      const open = events.filter((event) => !event.isSettled);
      const delivered = await deliverSlices(
        deps,
        slicesOf(open, wantedListeners(deps.listeners, deps.config.current)),
        health,
      );
      for (const listener of health.heldHere) await beginProbing(deps, listener);
      // Read for settled events too: a worker that died after settling them has not returned them yet.
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

    /** Tries a failing delivery once; one that has been delivered meanwhile is left as it is. */
    async deliverFailing(reference: DeliveryReference): Promise<void> {
      const listener = listenerCalled(deps, reference.listener);
      const key = { ...reference, occurredAt: new Date(reference.occurredAt) };
      const known = await inDatabase((unit) => readDelivery(unit, key));
      if (known?.state !== 'failing') return;
      try {
        await inListenerTransaction(deps, listener, known.event.organizationId, async (unit, starts) => {
          await lockRecords(unit, listener.name, [known.event.entityId]);
          const current = await readDelivery(unit, key);
          if (current?.state !== 'failing') return;
          await deliverOne(deps, unit, listener, current.event, starts);
          await starts.run();
          await endDelivery(unit, key, 'done');
          await noteListenerSuccess(unit, listener.name);
        });
      } catch (error) {
        deps.logger.warn({ err: error, ...whereOf(listener, known.event) }, 'a listener failed again');
        await inDatabase((unit) => noteFailure(unit, key, summaryOf(error)));
        // Of the workflow: the settings may have changed since it was started. 0 stands for any number.
        const { attempt, retryPolicy } = Context.current().info;
        const maxAttempts = retryPolicy?.maximumAttempts ?? 0;
        if (isRefusal(error) || (maxAttempts > 0 && attempt >= maxAttempts))
          await notifyOperator(deps, listener.name, {
            message: 'delivery-waiting',
            listener: listener.name,
            topic: known.event.topic,
          });
        throw error;
      }
    },

    /** Gives a failing delivery up, as an operator commanded. @returns whether it was still failing */
    async skipFailing(reference: DeliveryReference): Promise<boolean> {
      const key = { ...reference, occurredAt: new Date(reference.occurredAt) };
      return inDatabase(async (unit) => {
        const known = await readDelivery(unit, key);
        if (!known) return false;
        // Events are held behind this one under the same lock: they are either held before it ends, or see that it has ended.
        await lockRecords(unit, key.listener, [known.event.entityId]);
        return endDelivery(unit, key, 'skipped');
      });
    },

    countToRepair: (
      selection: RepairSelection,
    ): Promise<{ readonly total: number; readonly groups: readonly DeliveryGroup[] }> =>
      inDatabase((unit) => countDeliveries(unit, selection)),

    /** Keeps who repairs what and why. */
    async recordRepair(repair: Repair): Promise<void> {
      await inDatabase((unit) => recordRepair(unit, repair));
    },

    /** The next deliveries of a repair, oldest first. */
    async deliveriesToRepair({ selection, after, limit }: RepairStep): Promise<RepairPosition[]> {
      const found = await inDatabase((unit) =>
        listDeliveries(unit, selection, { order: 'oldest', limit, ...(after ? { after } : {}) }),
      );
      return found.map(({ occurredAt, eventId, listener }) => ({
        occurredAt: occurredAt.toISOString(),
        eventId,
        listener,
      }));
    },

    /** Tries a listener that is held, and lets it go when it handles an event. */
    probeListener: ({ listener }: HeldName): Promise<Probe> => probeListener(deps, listener),

    /** Gives some of the events that have waited for a listener back to the relay; returns how many. */
    giveBackHeld: ({ listener }: HeldName): Promise<number> => giveBack(deps, listener),

    /** Retries or skips these deliveries. @returns how many of them were open */
    repairPage: (page: RepairedPage): Promise<number> => repairPage(deps, page),
  };
});

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
