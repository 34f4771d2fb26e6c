import { orphanedHolds, staleFailing } from '#entities/kit/outbox/deliveries.ts';
import { overdueWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { heldListeners } from '#entities/kit/outbox/listener-states.ts';
import {
  deliverEventContract,
  searchOfDelivery,
  type DeliverEventInput,
} from '#workflows/events/deliver-event.contract.ts';
import { deliverHeld } from './deliver-held.ts';
import { inputOf } from './delivery-input.ts';
import { resumeProbing } from './held-listener.ts';
import { inDeliveryTransaction, type EventDependencies } from './listener-transaction.ts';
import { sendWakes } from './workflow-starts.ts';

/** Most deliveries one sweep resumes. */
const maxResumed = 100;

/**
 * Starts the workflows of open deliveries again that have not been worked on since `before`: a run may have been terminated. Sends wakes
 * that were kept before then.
 * @returns how many were started
 * @throws AppError when the database or Temporal is unavailable
 */
export async function resumeDeliveries(deps: EventDependencies, before: Date): Promise<number> {
  const start = (input: DeliverEventInput) =>
    deps.temporal.start(deliverEventContract, input, { repeat: 'again', search: searchOfDelivery(input) });
  const { failing, orphaned, held, wakes } = await inDeliveryTransaction(deps, async (unit) => ({
    failing: await staleFailing(unit, before, maxResumed),
    orphaned: await orphanedHolds(unit, before, maxResumed),
    held: await heldListeners(unit),
    wakes: await overdueWakes(unit, before, maxResumed),
  }));
  // First, because held deliveries can take all of the time.
  await sendWakes(deps, wakes);
  for (const { listener } of held) await resumeProbing(deps, listener);
  let resumed = 0;
  for (const { event, listener } of failing) {
    // Changes nothing for a workflow that is running.
    if (await start(inputOf(event, listener, deps))) resumed++;
  }
  for (const hold of orphaned) {
    if (!deps.listeners.some(({ name }) => name === hold.listener)) {
      deps.logger.warn(hold, 'events are held for a listener that this release does not have');
      continue;
    }
    const next = await deliverHeld(deps, hold);
    if (next) await start(next);
    resumed++;
  }
  return resumed;
}
