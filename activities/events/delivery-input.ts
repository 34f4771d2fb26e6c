import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { EventDependencies } from './dependencies.ts';

/** Input of the workflow that a failing delivery gets. */
export function inputOf(
  event: EventRow,
  listener: string,
  { temporal, queue }: Pick<EventDependencies, 'temporal' | 'queue'>,
): DeliverEventInput {
  return {
    eventId: event.id,
    occurredAt: event.occurredAt.toISOString(),
    listener,
    queue: temporal.activityQueue(queue),
    requestId: event.requestId,
    topic: event.topic,
    organizationId: event.organizationId,
    entityKind: event.entityKind,
    entityId: event.entityId,
  };
}
