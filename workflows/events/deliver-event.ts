import {
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/activities.ts';
import { retryDeliverySignal, skipDeliverySignal, type DeliverEventInput } from './deliver-event.contract.ts';
import { startDelivery } from './start-delivery.ts';

const retryDelivery = defineSignal(retryDeliverySignal);
const skipDelivery = defineSignal(skipDeliverySignal);

/**
 * One event that one listener fails on. It is tried with growing pauses; after the last attempt the workflow waits, visible
 * in the UI, until an operator has mended the cause and sends `retryDelivery`, or gives it up with `skipDelivery`. Both
 * signals work between attempts too. Later events of the same record wait behind it and follow when it ends.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<'done' | 'skipped'> {
  const { maximumAttempts, initialIntervalMs, backoffCoefficient, maximumIntervalMs } = input.retry;
  const activities = proxyActivities<EventActivities>({
    taskQueue: input.taskQueue,
    startToCloseTimeout: '1 minute',
    retry: {
      maximumAttempts,
      initialInterval: initialIntervalMs,
      backoffCoefficient,
      maximumInterval: maximumIntervalMs,
    },
  });
  const key = { eventId: input.eventId, occurredAt: input.occurredAt, listener: input.listener };
  let wish: 'retry' | 'skip' | undefined;
  setHandler(retryDelivery, () => {
    wish = 'retry';
  });
  setHandler(skipDelivery, () => {
    wish = 'skip';
  });

  /** One round of attempts; a signal ends it early. */
  const attempt = async (): Promise<'done' | 'failed'> => {
    const scope = new CancellationScope();
    const round = scope
      .run(() => activities.deliverFailing(key))
      .then(
        () => 'done' as const,
        (error: unknown) => {
          if (error instanceof ActivityFailure || isCancellation(error)) return 'failed' as const;
          throw error;
        },
      );
    const interrupted = condition(() => wish !== undefined).then(() => {
      scope.cancel();
      return round;
    });
    return Promise.race([round, interrupted]);
  };

  let isSkipped = false;
  while (!isSkipped && (await attempt()) === 'failed') {
    if (wish === undefined) {
      setCurrentDetails(
        `**Waiting for an operator.** The listener \`${input.listener}\` failed ${maximumAttempts} times on \`${input.topic}\`. ` +
          'Mend the cause, then send the signal `retryDelivery`; or `skipDelivery` to give this event up.',
      );
      await condition(() => wish !== undefined);
      setCurrentDetails('');
    }
    isSkipped = (wish as string) === 'skip';
    wish = undefined;
  }
  if (isSkipped) await activities.skipFailing(key);
  const next = await activities.deliverHeld({ listener: input.listener, entityId: input.entityId });
  if (next) await startDelivery(next);
  return isSkipped ? 'skipped' : 'done';
}
