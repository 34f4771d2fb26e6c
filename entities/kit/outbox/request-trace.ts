import type { HttpRequest } from '../model/work-context.ts';
import type { Work } from '../storage/work.ts';
import type { DeliveryState } from './deliveries.ts';

export interface TracedChange {
  readonly kind: string;
  readonly recordId: string;
  readonly organizationId: string | null;
  readonly operation: 'created' | 'updated' | 'deleted';
  readonly recordVersion: number;
  readonly changedFields: readonly string[];
  readonly actor: string;
  readonly recordedAt: Date;
}

/** An event that a request has caused, and how far it is. */
interface TracedEvent {
  readonly id: string;
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly organizationId: string | null;
  readonly actor: string;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  /** Null for an event that a worker has caused while it worked on behalf of the request. */
  readonly request: HttpRequest | null;
  /** Whether a listener wanted it. */
  readonly pending: boolean;
  readonly batchId: string | null;
  readonly deliveries: readonly TracedDelivery[];
  readonly messages: readonly TracedMessage[];
}

interface TracedDelivery {
  readonly listener: string;
  readonly status: DeliveryState;
  readonly error: string | null;
  readonly updatedAt: Date;
}

interface TracedMessage {
  readonly endpointId: string;
  readonly status: string;
  readonly attempts: number;
}

export interface RequestTrace {
  /** Null when all events that are read were caused by workers, and without events. */
  readonly request: HttpRequest | null;
  readonly changes: readonly TracedChange[];
  readonly events: readonly TracedEvent[];
}

/** Most changes, and most events, that are read. */
const maxTraced = 200;

type OfEvent<T> = T & { readonly eventId: string };

/**
 * The caller of this function has checked that the user may see the changes of the organization. The id of a request is the caller's
 * choice: several organizations can have requests of the same id.
 * @param organizationId null: of any organization, and of none
 */
export async function readRequestTrace(
  work: Work,
  requestId: string,
  organizationId: string | null,
): Promise<RequestTrace> {
  const session = await work.readAs('system');
  const values = [requestId, organizationId];
  const isOwn = '($2::text is null or organization_id = $2)';
  const [changes, events] = await Promise.all([
    session.query<TracedChange>(
      `select entity_kind as kind, entity_id as "recordId", organization_id as "organizationId", operation,
         record_version as "recordVersion", changed_fields as "changedFields", actor, recorded_at as "recordedAt"
       from history where request_id = $1 and ${isOwn} order by recorded_at, id limit ${maxTraced}`,
      values,
    ),
    session.query<Omit<TracedEvent, 'deliveries' | 'messages'>>(
      `select id, topic, entity_kind as "entityKind", entity_id as "entityId", organization_id as "organizationId", actor,
         occurred_at as "occurredAt", traceparent, pending, batch_id as "batchId",
         case when request_method is not null then
           json_build_object('method', request_method, 'route', request_route, 'status', request_status) end as request
       from events where request_id = $1 and ${isOwn} order by occurred_at, id limit ${maxTraced}`,
      values,
    ),
  ]);
  if (events.rows.length === 0) return { request: null, changes: changes.rows, events: [] };
  const keys = [events.rows.map(({ occurredAt }) => occurredAt), events.rows.map(({ id }) => id)];
  const ofEvents = `join unnest($1::timestamptz[], $2::text[]) as k (at, id) on d.occurred_at = k.at and d.event_id = k.id`;
  const [deliveries, messages] = await Promise.all([
    session.query<OfEvent<TracedDelivery>>(
      `select d.event_id as "eventId", d.listener, d.state as status, d.error, d.updated_at as "updatedAt"
       from event_deliveries d ${ofEvents} order by d.listener`,
      keys,
    ),
    session.query<OfEvent<TracedMessage>>(
      `select d.event_id as "eventId", d.endpoint_id as "endpointId", d.state as status, d.attempts
       from webhook_messages d ${ofEvents} order by d.endpoint_id`,
      keys,
    ),
  ]);
  const of = <T>(rows: readonly OfEvent<T>[], id: string): T[] =>
    rows.filter(({ eventId }) => eventId === id).map(({ eventId: _eventId, ...row }) => row as unknown as T);
  return {
    request: events.rows.find(({ request }) => request !== null)?.request ?? null,
    changes: changes.rows,
    events: events.rows.map((event) => ({
      ...event,
      deliveries: of<TracedDelivery>(deliveries.rows, event.id),
      messages: of<TracedMessage>(messages.rows, event.id),
    })),
  };
}
