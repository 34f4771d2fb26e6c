import { isId, timeOfId } from '../base/ids.ts';
import { inputError } from '../base/input-error.ts';
import { isInstant, parseInstant } from '../base/instant.ts';
import { mismatch } from '../base/schema-problem.ts';
import type { Work } from '../storage/work.ts';
import type { DeliveryState } from './deliveries.ts';
import { eventColumns, type EventRow } from './outbox.ts';

export const deliveryStates = ['failing', 'held', 'skipped', 'done'] as const satisfies readonly DeliveryState[];

/** Which deliveries. Omitted parts select all. */
export interface DeliverySelection {
  readonly states: readonly DeliveryState[];
  readonly listener?: string;
  /** One topic, or all of a kind (`task.*`). */
  readonly topic?: string;
  readonly organizationId?: string;
  readonly requestId?: string;
  readonly eventIds?: readonly string[];
  /** When the event happened (RFC 3339): from this instant on. */
  readonly since?: string;
  /** Up to this instant. */
  readonly until?: string;
  /** Part of the error, in any case. */
  readonly error?: string;
}

/** A delivery, as a position in a list: event by event in their order, and listener by listener. */
export interface DeliveryPosition {
  /** RFC 3339. */
  readonly occurredAt: string;
  readonly eventId: string;
  readonly listener: string;
}

/** A position as text, for whoever asks for the next page. */
export function positionText({ eventId, occurredAt, listener }: DeliveryPosition | ListedDelivery): string {
  const time = typeof occurredAt === 'string' ? occurredAt : occurredAt.toISOString();
  return `${time}/${eventId}/${listener}`;
}

/** Undefined for a text that no position has. */
export function parsePosition(text: string): DeliveryPosition | undefined {
  const [time = '', eventId, listener, ...others] = text.split('/');
  if (others.length > 0 || !isId(eventId) || !listener) return undefined;
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || at.toISOString() !== time) return undefined;
  return { occurredAt: time, eventId, listener };
}

interface DeliveryPage {
  readonly order: 'newest' | 'oldest';
  readonly after?: DeliveryPosition;
  readonly limit: number;
}

export interface ListedDelivery {
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly organizationId: string | null;
  readonly requestId: string;
  readonly listener: string;
  readonly status: DeliveryState;
  readonly error: string | null;
  readonly updatedAt: Date;
}

/** How many deliveries have the same status, topic, listener and error. */
export interface DeliveryGroup {
  readonly status: DeliveryState;
  readonly topic: string;
  readonly listener: string;
  readonly error: string | null;
  readonly count: number;
}

/** Most groups that are counted apart; the largest ones. */
const maxGroups = 50;

const deliveryColumns = `d.event_id as "eventId", d.occurred_at as "occurredAt", e.topic, e.entity_kind as "entityKind",
  d.entity_id as "entityId", e.organization_id as "organizationId", e.request_id as "requestId", d.listener, d.state as status, d.error,
  d.updated_at as "updatedAt"`;

const joined = `event_deliveries d join events e on e.occurred_at = d.occurred_at and e.id = d.event_id`;

/** Deliveries of all organizations, unless the selection names one: whoever calls it has found that the caller may see them. */
export function listDeliveries(
  work: Work,
  selection: DeliverySelection,
  { order, after, limit }: DeliveryPage,
): Promise<ListedDelivery[]> {
  const { values, bind, conditions } = conditionsOf(selection);
  const [comparison, direction] = order === 'newest' ? ['<', 'desc'] : ['>', 'asc'];
  if (after)
    conditions.push(
      `(d.occurred_at, d.event_id, d.listener) ${comparison} (${bind(after.occurredAt)}::timestamptz, ${bind(after.eventId)}, ${bind(after.listener)})`,
    );
  return work.rowsAsSystem<ListedDelivery>(
    `select ${deliveryColumns} from ${joined} where ${conditions.join(' and ')}
     order by d.occurred_at ${direction}, d.event_id ${direction}, d.listener ${direction} limit ${bind(limit)}`,
    values,
  );
}

/** The largest groups of these deliveries, and how many there are in all. */
export async function countDeliveries(
  work: Work,
  selection: DeliverySelection,
): Promise<{ readonly total: number; readonly groups: readonly DeliveryGroup[] }> {
  const { values, conditions } = conditionsOf(selection);
  const rows = await work.rowsAsSystem<DeliveryGroup & { readonly total: number }>(
    `select d.state as status, e.topic, d.listener, d.error, count(*)::int as count, (sum(count(*)) over ())::int as total
     from ${joined} where ${conditions.join(' and ')}
     group by d.state, e.topic, d.listener, d.error order by count(*) desc, e.topic, d.listener, d.state, d.error limit ${maxGroups}`,
    values,
  );
  return { total: rows[0]?.total ?? 0, groups: rows.map(({ total: _total, ...group }) => group) };
}

/** An instant as PostgreSQL reads it: RFC 3339 has offsets and leap seconds that PostgreSQL refuses. @throws AppError invalid_input */
function instantOf(name: string, text: string): Date {
  const instant = parseInstant(text);
  if (!instant) throw inputError([{ path: `/${name}`, message: mismatch('date-time', text) }]);
  return instant;
}

/** The conditions of a statement that reads deliveries `d` with their events `e`, and its values. */
function conditionsOf(selection: DeliverySelection) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { states, listener, topic, organizationId, requestId, eventIds, since, until, error } = selection;
  // Constants, so that PostgreSQL sees that the index of what is not done has all of them.
  const wanted = deliveryStates.filter((state) => states.includes(state)).map((state) => `'${state}'`);
  const conditions = [`d.state in (${wanted.join(', ')})`];
  if (listener !== undefined) conditions.push(`d.listener = ${bind(listener)}`);
  if (topic?.endsWith('.*')) conditions.push(`starts_with(e.topic, ${bind(topic.slice(0, -1))})`);
  else if (topic !== undefined) conditions.push(`e.topic = ${bind(topic)}`);
  if (organizationId !== undefined) conditions.push(`e.organization_id = ${bind(organizationId)}`);
  if (requestId !== undefined) conditions.push(`e.request_id = ${bind(requestId)}`);
  if (eventIds) conditions.push(`d.event_id = any(${bind(eventIds)})`);
  if (since !== undefined) conditions.push(`d.occurred_at >= ${bind(instantOf('since', since))}::timestamptz`);
  if (until !== undefined) conditions.push(`d.occurred_at <= ${bind(instantOf('until', until))}::timestamptz`);
  if (error !== undefined) conditions.push(`strpos(lower(d.error), lower(${bind(error)})) > 0`);
  return { values, bind, conditions };
}

/** An event, and where it is on its way to its listeners. */
interface ShownEvent extends EventRow {
  /** Whether a listener of the release that recorded it wanted it. */
  readonly pending: boolean;
  /** Null until the relay has claimed it. */
  readonly batchId: string | null;
}

export interface EventDetails {
  readonly event: ShownEvent;
  readonly deliveries: readonly EventDelivery[];
  readonly messages: readonly EventMessage[];
  readonly repairs: readonly EventRepair[];
}

type EventDelivery = Pick<ListedDelivery, 'listener' | 'status' | 'error' | 'updatedAt'>;

/** The event on its way to an endpoint of a customer. */
interface EventMessage {
  readonly endpointId: string;
  readonly status: string;
  readonly attempts: number;
}

interface EventRepair {
  readonly repairId: string;
  readonly listener: string;
  readonly operation: 'retry' | 'skip';
  readonly at: Date;
  readonly operator: string;
  readonly reason: string;
}

/** How far the time of an event is after that in its id, at most. It can be before it: ids of a process grow even when its clock is set back. */
const idTolerance = `interval '1 hour'`;

/**
 * The caller of this function has checked that the user may see the events of the organization.
 * @param id well-formed
 * @param organizationId null: of any organization
 * @returns undefined when there is no such event any more
 */
export async function readEvent(
  work: Work,
  id: string,
  organizationId: string | null,
): Promise<EventDetails | undefined> {
  const made = timeOfId(id);
  // Ids can have times that no event has.
  if (!isInstant(made)) return undefined;
  const session = await work.readAs('system');
  // Its key begins with its time, which partitions the table: the search begins near the time of the id, and goes back.
  const { rows } = await session.query<ShownEvent>(
    `select ${eventColumns}, e.pending, e.batch_id as "batchId" from events e
     where e.id = $1 and ($2::text is null or e.organization_id = $2)
       and e.occurred_at <= $3::timestamptz + ${idTolerance} order by e.occurred_at desc limit 1`,
    [id, organizationId, made],
  );
  const [event] = rows;
  if (!event) return undefined;
  const key = [event.occurredAt, id];
  const [deliveries, messages, repairs] = await Promise.all([
    session.query<EventDelivery>(
      `select listener, state as status, error, updated_at as "updatedAt" from event_deliveries where occurred_at = $1 and event_id = $2
       order by listener`,
      key,
    ),
    session.query<EventMessage>(
      `select endpoint_id as "endpointId", state as status, attempts from webhook_messages where occurred_at = $1 and event_id = $2
       order by endpoint_id`,
      key,
    ),
    session.query<EventRepair>(
      `select r.repair_id as "repairId", r.listener, a.operation, a.at, a.operator, a.reason from repaired_deliveries r
       join event_repairs a on a.repair_id = r.repair_id and a.operation <> 'stop' where r.event_id = $1 order by a.at, r.listener`,
      [id],
    ),
  ]);
  return { event, deliveries: deliveries.rows, messages: messages.rows, repairs: repairs.rows };
}
