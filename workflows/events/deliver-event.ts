import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/event-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import { retryDeliverySignal, skipDeliverySignal, type DeliverEventInput } from './deliver-event.contract.ts';
import { startDelivery } from './start-delivery.ts';

const retryDelivery = defineSignal(retryDeliverySignal);
const skipDelivery = defineSignal(skipDeliverySignal);

/**
 * Delivers one event to the listener that failed on it. It is tried with growing pauses. After the last attempt, or a refusal,
 * the workflow waits, visible in the UI, until an operator has removed the cause and sends `retryDelivery`, or gives the event
 * up with `skipDelivery`. Both signals work between attempts too. Later events of the same record are held and are delivered
 * when this one ends. Cancelling or terminating the run gives nothing up: the delivery row still says `failing`, and the sweep
 * starts the workflow again.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<'done' | 'skipped'> {
  const options = activityOptions(input.queue);
  const { deliverFailing } = proxyActivities<EventActivities>({
    ...options,
    // A signal does not wait for an attempt under way: the delivery row and the lock on the record keep attempts apart.
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  const bookkeeping = proxyActivities<EventActivities>({
    ...options,
    // They fail only while the database is unreachable. Giving up would leave the later events of the record held for ever.
    retry: { maximumInterval: options.retry.maximumInterval },
  });
  const key = { eventId: input.eventId, occurredAt: input.occurredAt, listener: input.listener };

  let operatorCommand: 'retry' | 'skip' | undefined;
  let round: CancellationScope | undefined;
  const obey = (command: 'retry' | 'skip') => () => {
    operatorCommand = command;
    round?.cancel();
  };
  setHandler(retryDelivery, obey('retry'));
  setHandler(skipDelivery, obey('skip'));

  /** One round of attempts; a signal ends it early. @returns whether the event is delivered */
  const attempt = async (): Promise<boolean> => {
    round = new CancellationScope();
    try {
      await round.run(() => deliverFailing(key));
      return true;
    } catch (error) {
      if (error instanceof ActivityFailure || isCancellation(error)) return false;
      throw error;
    } finally {
      round = undefined;
    }
  };
  /** @returns whether the event was given up, instead of delivered */
  const deliver = async (): Promise<boolean> => {
    for (;;) {
      if (operatorCommand === 'skip') return bookkeeping.skipFailing(key);
      operatorCommand = undefined;
      if (await attempt()) return false;
      if (operatorCommand !== undefined) continue;
      setCurrentDetails(waitingFor(input));
      await condition(() => operatorCommand !== undefined);
      setCurrentDetails('');
    }
  };

  const isSkipped = await deliver();
  const next = await bookkeeping.deliverHeld({ listener: input.listener, entityId: input.entityId });
  if (next) await startDelivery(next);
  return isSkipped ? 'skipped' : 'done';
}

function waitingFor({ listener, topic }: DeliverEventInput): string {
  return (
    `**Waiting for an operator.** The listener \`${listener}\` cannot handle this \`${topic}\`. ` +
    'Remove the cause, then send the signal `retryDelivery`; or send `skipDelivery` to give this event up.'
  );
}
