import { systemCaller } from '#entities/kit/model/caller.ts';
import { orphanedHolds, staleFailing } from '#entities/kit/outbox/deliveries.ts';
import {
  deliverEventContract,
  searchOfDelivery,
  type DeliverEventInput,
} from '#workflows/events/deliver-event.contract.ts';
import type { EventActivities } from './event-activities.ts';
import { inputOf } from './delivery-input.ts';
import type { EventDependencies } from './dependencies.ts';

/** Most deliveries one sweep looks after. */
const maxResumed = 100;

/**
 * Brings back the workflows of open deliveries that nobody has worked on since `before`: one may have been terminated.
 * @returns how many were brought back
 * @throws AppError when the database or Temporal is away
 */
export async function resumeDeliveries(
  deps: EventDependencies,
  { deliverHeld }: Pick<EventActivities, 'deliverHeld'>,
  before: Date,
): Promise<number> {
  const start = (input: DeliverEventInput) =>
    deps.temporal.start(deliverEventContract, input, { repeat: 'again', search: searchOfDelivery(input) });
  const { failing, orphaned } = await deps.database.transact(
    { caller: systemCaller('event delivery'), requestId: 'event-delivery' },
    async (unit) => ({
      failing: await staleFailing(unit, before, maxResumed),
      orphaned: await orphanedHolds(unit, before, maxResumed),
    }),
  );
  let resumed = 0;
  for (const { event, listener } of failing) {
    // Nothing happens to one that is running.
    if (await start(inputOf(event, listener, deps))) resumed++;
  }
  for (const hold of orphaned) {
    if (!deps.listeners.some(({ name }) => name === hold.listener)) {
      deps.logger.warn(hold, 'events are held for a listener that this release does not have');
      continue;
    }
    const next = await deliverHeld(hold);
    if (next) await start(next);
    resumed++;
  }
  return resumed;
}
