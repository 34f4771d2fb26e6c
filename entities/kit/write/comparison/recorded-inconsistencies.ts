import { columnsOf } from '../../base/columns-of.ts';
import { silentActors } from '../../model/caller.ts';
import type { Registry } from '../../model/registry.ts';
import {
  linesOf,
  pageOf,
  type ComparedPage,
  type Comparison,
  type Cursor,
  type FailingDelivery,
} from '../../outbox/comparison.ts';

/** Before the first row of a table whose key begins with a time. */
const beginning: Cursor = ['-infinity', '', ''];

interface HistoryRow {
  readonly at: string;
  readonly id: string;
  readonly kind: string;
  readonly entityId: string;
  readonly operation: string;
  readonly version: number;
  readonly requestId: string;
  readonly actor: string;
  /** Whether events of its day are still kept: they are dropped by days, and history is kept longer. */
  readonly hasEvents: boolean;
}

/** Compares the history with the rows that it is about, and with the events of the same changes. */
export function historyComparison(registry: Registry): Comparison {
  const byTopic = new Map(registry.modules.map((module) => [module.topic, module]));
  return {
    name: 'history',
    first: beginning,
    page: async (work, { after, limit }): Promise<ComparedPage> => {
      const session = await work.readAs('system');
      const { rows } = await session.query<HistoryRow>(
        `select recorded_at::text as at, id, entity_kind as kind, entity_id as "entityId", operation, record_version as version,
           request_id as "requestId", actor, exists (select 1 from events e where
             e.occurred_at >= date_trunc('day', h.recorded_at, 'UTC') and e.occurred_at < date_trunc('day', h.recorded_at, 'UTC') + interval '1 day') as "hasEvents"
         from history h where (recorded_at, id) > ($1::timestamptz, $2) order by recorded_at, id limit $3`,
        [...after.slice(0, 2), limit],
      );
      const page = pageOf(rows, limit, ({ at, id }) => [at, id]);
      if (rows.length === 0) return { lines: [], ...page };
      const lines: string[] = [];
      for (const [kind, own] of Map.groupBy(rows, (row) => row.kind)) {
        const module = byTopic.get(kind);
        if (!module) continue;
        lines.push(
          ...(await linesOf(
            session,
            `select format('history has entries of %s %s, which does not exist', $1::text, given.id) as line
             from (select distinct unnest($2::text[]) as id) given
             where not exists (select 1 from ${module.table} r where r.id = given.id)`,
            [kind, own.map(({ entityId }) => entityId)],
          )),
        );
      }
      const announced = rows.filter(
        (row) =>
          row.hasEvents &&
          !silentActors.has(row.actor) &&
          byTopic.get(row.kind)?.events.some((verb) => verb === row.operation),
      );
      lines.push(
        ...(await linesOf(
          session,
          // Change and event are recorded with the same time. A cascaded deletion is not announced: its request deleted another record.
          `with e as materialized (select entity_id, record_version, topic from events where occurred_at between $6::timestamptz and $7)
           select format('%s of %s %s (version %s) has history but no event', h.operation, h.kind, h.entity_id, h.version) as line
           from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[]) as h (kind, entity_id, operation, version, request_id)
           where not exists (select 1 from e where e.entity_id = h.entity_id and e.record_version = h.version
               and e.topic = h.kind || '.' || h.operation)
             and not (h.operation = 'deleted' and exists (select 1 from events c
               where c.request_id = h.request_id and c.topic like '%.deleted' and c.entity_id <> h.entity_id))`,
          [
            ...columnsOf(announced, 'kind', 'entityId', 'operation', 'version', 'requestId'),
            rows[0]?.at,
            rows.at(-1)?.at,
          ],
        )),
      );
      return { lines, ...page };
    },
  };
}

interface EventRow {
  readonly at: string;
  readonly id: string;
  readonly topic: string;
  readonly kind: string;
  readonly entityId: string;
  readonly version: number;
  readonly requestId: string;
  readonly pending: boolean;
  readonly isSettled: boolean;
  readonly isOld: boolean;
}

/** Compares events with the history of the same changes, and with their deliveries. */
export function eventComparison(registry: Registry, recordHistory: boolean): Comparison {
  const changes = new Map(
    registry.modules.flatMap(({ topic, events }) => events.map((verb) => [`${topic}.${verb}`, { topic, verb }])),
  );
  return {
    name: 'events',
    first: beginning,
    page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
      const session = await work.readAs('system');
      const { rows } = await session.query<EventRow>(
        `select occurred_at::text as at, id, topic, entity_kind as kind, entity_id as "entityId", record_version as version,
           request_id as "requestId", pending, settled_at is not null as "isSettled", occurred_at <= $4 as "isOld"
         from events where (occurred_at, id) > ($1::timestamptz, $2) order by occurred_at, id limit $3`,
        [...after.slice(0, 2), limit, new Date(work.clock.now().getTime() - graceMs)],
      );
      const page = pageOf(rows, limit, ({ at, id }) => [at, id]);
      if (rows.length === 0) return { lines: [], ...page };
      const reported = rows.filter(({ topic, kind }) => recordHistory && changes.get(topic)?.topic === kind);
      const lines = await linesOf(
        session,
        `with h as materialized (select entity_kind, entity_id, record_version, operation from history
           where recorded_at between $6::timestamptz and $7)
         select format('event %s reports %s of %s %s (version %s), which history does not have', e.id, e.verb, e.kind, e.entity_id, e.version) as line
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[]) as e (id, verb, kind, entity_id, version)
         where not exists (select 1 from h where h.entity_kind = e.kind and h.entity_id = e.entity_id
           and h.record_version = e.version and h.operation = e.verb)`,
        [
          reported.map(({ id }) => id),
          reported.map(({ topic }) => changes.get(topic)?.verb),
          ...columnsOf(reported, 'kind', 'entityId', 'version'),
          rows[0]?.at,
          rows.at(-1)?.at,
        ],
      );
      for (const { id, topic, requestId } of rows.filter((row) => row.pending && !row.isSettled && row.isOld))
        lines.push(`event ${id} (${topic}) of request ${requestId} was never delivered`);
      const settled = rows.filter(({ pending, isSettled }) => pending && isSettled);
      lines.push(
        ...(await linesOf(
          session,
          `select format('event %s (%s) is settled, but no listener has a delivery row', e.id, e.topic) as line
           from unnest($1::timestamptz[], $2::text[], $3::text[]) as e (occurred_at, id, topic)
           where not exists (select 1 from event_deliveries d where d.occurred_at = e.occurred_at and d.event_id = e.id)`,
          [settled.map(({ at }) => at), settled.map(({ id }) => id), settled.map(({ topic }) => topic)],
        )),
      );
      return { lines, ...page };
    },
  };
}

interface OpenDelivery extends FailingDelivery {
  readonly entityId: string;
  readonly state: 'failing' | 'held';
  readonly isOld: boolean;
  readonly isBehind: boolean;
}

/** Deliveries that have not ended: those that fail, and those that wait behind one that fails. */
export const deliveryComparison: Comparison = {
  name: 'open deliveries',
  first: ['', '', ''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const rows = await work.rowsAsSystem<OpenDelivery>(
      `select d.event_id as "eventId", d.occurred_at as "occurredAt", d.listener, d.entity_id as "entityId", d.state, d.updated_at <= $5 as "isOld",
         exists (select 1 from event_deliveries f
           where f.listener = d.listener and f.entity_id = d.entity_id and f.state = 'failing')
           or exists (select 1 from listener_states l where l.listener = d.listener and l.held_at is not null) as "isBehind"
       from event_deliveries d where d.state in ('failing', 'held') and (d.entity_id, d.listener, d.event_id) > ($1, $2, $3)
       order by d.entity_id, d.listener, d.event_id limit $4`,
      [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
    );
    const old = rows.filter(({ isOld }) => isOld);
    return {
      lines: old
        .filter(({ state, isBehind }) => state === 'held' && !isBehind)
        .map(
          ({ eventId, listener }) =>
            `delivery of event ${eventId} to ${listener} is held, but neither an earlier delivery nor the listener is failing`,
        ),
      failing: old.filter(({ state }) => state === 'failing'),
      ...pageOf(rows, limit, ({ entityId, listener, eventId }) => [entityId, listener, eventId]),
    };
  },
};

/** Listeners that are held because they fail on everything. They are few. */
export const listenerComparison: Comparison = {
  name: 'held listeners',
  first: [''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const rows = await work.rowsAsSystem<{ listener: string; isOld: boolean }>(
      `select listener, held_at <= $3 as "isOld" from listener_states where held_at is not null and listener > $1
       order by listener limit $2`,
      [...after, limit, new Date(work.clock.now().getTime() - graceMs)],
    );
    return {
      lines: [],
      expected: rows
        .filter(({ isOld }) => isOld)
        .map(({ listener }) => ({ of: 'listener', key: listener, claim: `listener ${listener} is held` })),
      ...pageOf(rows, limit, ({ listener }) => [listener]),
    };
  },
};
