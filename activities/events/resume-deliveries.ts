import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { orphanedHolds, staleFailing, type FailingDelivery } from '#entities/kit/outbox/deliveries.ts';
import { overdueWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { heldListeners } from '#entities/kit/outbox/listener-states.ts';
import {
  deliverEventContract,
  searchOfDelivery,
  type DeliverEventInput,
} from '#workflows/events/deliver-event.contract.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { deliverHeld, type HeldEvents } from './deliver-held.ts';
import { inputOf } from './delivery-input.ts';
import { resumeProbing } from './held-listener.ts';
import { inDeliveryTransaction, type EventDependencies } from './listener-transaction.ts';
import { sendWakes } from './workflow-starts.ts';

/** Rows that are read at once, and those that are worked on at the same time. */
const [pageSize, maxConcurrent] = [100, 10];

/**
 * Starts the workflows of open deliveries again that have not been worked on since `before`: a run may have been terminated. Sends wakes
 * that were kept before then. A failure is logged and stops none of the others.
 * @returns how many were started
 * @throws AppError when the database is unavailable
 * @throws AggregateError for what has failed, after all the rest
 */
export async function resumeDeliveries(deps: EventDependencies, before: Date): Promise<number> {
  // First, because held deliveries can take all of the time.
  await sendOverdueWakes(deps, before);
  const start = (input: DeliverEventInput) =>
    deps.temporal.start(deliverEventContract, input, { repeat: 'again', search: searchOfDelivery(input) });
  const errors: unknown[] = [];
  const resumeAll = async <Item>(items: readonly Item[], resume: (item: Item) => Promise<boolean>): Promise<number> => {
    const resumed = await concurrently(items, maxConcurrent, async (item) => {
      try {
        return await resume(item);
      } catch (error) {
        deps.logger.error({ err: error }, 'a delivery could not be resumed');
        errors.push(error);
        return false;
      }
    });
    return resumed.filter(Boolean).length;
  };
  const held = await inDeliveryTransaction(deps, heldListeners);
  await resumeAll(held, async ({ listener }) => {
    await resumeProbing(deps, listener);
    return true;
  });
  let resumed = 0;
  for await (const page of pagesOf<FailingDelivery>(deps, (unit, after) => staleFailing(unit, before, pageSize, after)))
    // Changes nothing for a workflow that is running.
    resumed += await resumeAll(page, ({ event, listener }) => start(inputOf(event, listener, deps)));
  for await (const page of pagesOf<HeldEvents>(deps, (unit, after) => orphanedHolds(unit, before, pageSize, after)))
    resumed += await resumeAll(page, async (hold) => {
      if (!deps.listeners.some(({ name }) => name === hold.listener)) {
        deps.logger.warn(hold, 'events are held for a listener that this release does not have');
        return false;
      }
      const next = await deliverHeld(deps, hold);
      if (next) await start(next);
      return true;
    });
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} deliveries could not be resumed`);
  return resumed;
}

/** Each wake is tried once, those that were refused and are due again, too. */
async function sendOverdueWakes(deps: EventDependencies, before: Date): Promise<void> {
  const tried = new Set<string>();
  for (;;) {
    const overdue = await inDeliveryTransaction(deps, (unit) => overdueWakes(unit, before, pageSize));
    const wakes = overdue.filter(({ id }) => !tried.has(id));
    if (wakes.length === 0) return;
    for (const { id } of wakes) tried.add(id);
    await sendWakes(deps, wakes);
  }
}

/** Pages of rows in their order. @param read the rows after one */
async function* pagesOf<Row>(
  deps: EventDependencies,
  read: (unit: UnitOfWork, after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (let after: Row | undefined; ;) {
    const last = after;
    const page = await inDeliveryTransaction(deps, (unit) => read(unit, last));
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    after = page.at(-1);
  }
}
