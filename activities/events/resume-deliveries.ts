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

/** The row after which a part continues; the first one when left out. */
interface Position<Row> {
  after?: Row | undefined;
}

interface Resuming {
  /** Longest time of the attempt, in milliseconds. One part ends after a quarter of it, the other after half. */
  readonly timeoutMs: number;
  /** Kept between attempts, so that each continues where the one before has ended. */
  readonly positions: { readonly failing: Position<FailingDelivery>; readonly held: Position<HeldEvents> };
}

/**
 * Starts the workflows of open deliveries again that have not been worked on since `before`: a run may have been terminated. Sends wakes
 * that were kept before then. A failure is logged and stops none of the others.
 * @returns how many were started
 * @throws AppError when the database is unavailable
 * @throws AggregateError for what has failed, after all the rest
 */
export async function resumeDeliveries(
  deps: EventDependencies,
  before: Date,
  { timeoutMs, positions }: Resuming,
): Promise<number> {
  const startedAt = Date.now();
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
  const failing = slicesOf(deps, positions.failing, startedAt + timeoutMs / 4, (unit, after) =>
    staleFailing(unit, before, pageSize, after),
  );
  for await (const slice of failing)
    // Changes nothing for a workflow that is running.
    resumed += await resumeAll(slice, ({ event, listener }) => start(inputOf(event, listener, deps)));
  const holds = slicesOf(deps, positions.held, startedAt + timeoutMs / 2, (unit, after) =>
    orphanedHolds(unit, before, pageSize, after),
  );
  for await (const slice of holds)
    resumed += await resumeAll(slice, async (hold) => {
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

/**
 * Rows in their order, as many at once as are worked on at the same time, until a time. The position moves before they are worked on, so
 * that an attempt which does not end is not repeated with the same ones.
 * @param read the rows after one
 */
async function* slicesOf<Row>(
  deps: EventDependencies,
  position: Position<Row>,
  endsAt: number,
  read: (unit: UnitOfWork, after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  for (;;) {
    const page = await inDeliveryTransaction(deps, (unit) => read(unit, position.after));
    for (let n = 0; n < page.length; n += maxConcurrent) {
      const slice = page.slice(n, n + maxConcurrent);
      position.after = slice.at(-1);
      yield slice;
      if (Date.now() >= endsAt) return;
    }
    if (page.length < pageSize) break;
  }
  position.after = undefined;
}
