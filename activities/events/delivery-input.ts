import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import { deliverEventContract, type DeliverEventInput } from '#workflows/events/deliver-event.contract.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';

/** Input of the workflow that a failing delivery gets. */
export function inputOf(
  event: EventRow,
  listener: string,
  { temporal }: Pick<ActivityDependencies, 'temporal'>,
): DeliverEventInput {
  return temporal.inputOf(deliverEventContract, {
    eventId: event.id,
    occurredAt: event.occurredAt.toISOString(),
    listener,
    requestId: event.requestId,
    topic: event.topic,
    organizationId: event.organizationId,
    entityKind: event.entityKind,
    entityId: event.entityId,
  });
}
