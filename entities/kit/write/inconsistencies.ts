import { sql } from 'kysely';
import { dependentPredicate, dependentsOf } from './cascade.ts';
import { compileSql } from '../storage/sql.ts';
import { rowTuples } from '../outbox/row-tuples.ts';
import type { ChangeWork } from './change-work.ts';

export interface Inconsistencies {
  readonly lines: readonly string[];
  /** Deliveries that should have a running workflow. */
  readonly failing: readonly { readonly eventId: string; readonly occurredAt: Date; readonly listener: string }[];
  /** Desired tuples, `object relation subject` → whether they must be in the store; undefined while they are not applied yet. */
  readonly tuples: ReadonlyMap<string, boolean | undefined>;
}

/** Whether a deletion was cascaded: the same request has the event of the deletion of another record. */
const isCascadedDeletion = `exists (select 1 from events c
  where c.request_id = h.request_id and c.topic like '%.deleted' and c.entity_id <> h.entity_id)`;

/**
 * Finds contradictions between rows, history, events, deliveries and desired tuples. It reads every live row, so it is meant for small
 * installations or those with little load.
 * @param graceMs work younger than this is expected to be unfinished
 */
export async function findInconsistencies(work: ChangeWork, graceMs: number): Promise<Inconsistencies> {
  const { registry, clock, options } = work;
  const { recordHistory } = options;
  const session = await work.readAs('system');
  const before = new Date(clock.now().getTime() - graceMs);
  const lines: string[] = [];
  const report = (rows: readonly { line: string }[]) => lines.push(...rows.map((row) => row.line));
  const run = async (text: string, values: readonly unknown[] = []) =>
    report((await session.query<{ line: string }>(text, values)).rows);

  const declared = new Map<string, string>();
  for (const module of registry.modules) {
    if (recordHistory) {
      await run(
        `select format('%s %s is at version %s, its history at %s', $1::text, r.id, r.record_version, coalesce(max(h.record_version)::text, 'none')) as line
         from ${module.table} r left join history h on h.entity_kind = $1 and h.entity_id = r.id
         group by r.id, r.record_version having coalesce(max(h.record_version), 0) <> r.record_version or count(h.id) <> r.record_version`,
        [module.topic],
      );
      await run(
        `select format('history has entries of %s %s, which does not exist', $1::text, h.entity_id) as line
         from history h left join ${module.table} r on r.id = h.entity_id
         where h.entity_kind = $1 and r.id is null group by h.entity_id`,
        [module.topic],
      );
    }
    await run(
      `select format('%s %s has the wrong kind in record_kinds: %s', $1::text, r.id, coalesce(k.kind, 'none')) as line
       from ${module.table} r left join record_kinds k on k.id = r.id where k.kind is distinct from $1`,
      [module.topic],
    );
    for (const dependent of dependentsOf(registry, module)) {
      const { text, values } = compileSql(
        sql`select format('%s %s is live, but its parent %s is deleted', ${dependent.module.topic}::text, d.id, ${module.topic}::text) as line
         from ${sql.table(dependent.module.table)} d join ${sql.table(module.table)} o on ${dependentPredicate(dependent, 'd', 'o')}
         where d.deleted_at is null and o.deleted_at is not null and not exists (
           -- A person who left may have joined again.
           select 1 from ${sql.table(module.table)} o where ${dependentPredicate(dependent, 'd', 'o')} and o.deleted_at is null)`,
      );
      await run(text, values);
    }
    for (const verb of recordHistory ? module.events : []) {
      const names = [`${module.topic}.${verb}`, module.topic, verb];
      // Events are dropped by days and history is kept longer, so only days that still have events are compared.
      await run(
        `select format('%s of %s %s (version %s) has history but no event', $3::text, $2::text, h.entity_id, h.record_version) as line
         from history h left join events e on e.entity_id = h.entity_id and e.record_version = h.record_version and e.topic = $1
         where h.entity_kind = $2 and h.operation = $3 and e.id is null
           and not (h.operation = 'deleted' and ${isCascadedDeletion})
           and (h.recorded_at at time zone 'UTC')::date in (select distinct (occurred_at at time zone 'UTC')::date from events)`,
        names,
      );
      await run(
        `select format('event %s reports %s of %s %s (version %s), which history does not have', e.id, $3::text, $2::text, e.entity_id, e.record_version) as line
         from events e left join history h on h.entity_kind = $2 and h.entity_id = e.entity_id
           and h.record_version = e.record_version and h.operation = $3
         where e.topic = $1 and e.entity_kind = $2 and h.id is null`,
        names,
      );
    }
    if (module.grants?.length) {
      for (const { tuples } of await rowTuples(session, module, { after: '', limit: Number.MAX_SAFE_INTEGER }))
        for (const tuple of tuples) declared.set(`${tuple.object} ${tuple.relation} ${tuple.subject}`, module.kind);
    }
  }

  await run(
    `select format('event %s (%s) of request %s was never delivered', id, topic, request_id) as line
     from events where pending and settled_at is null and occurred_at <= $1`,
    [before],
  );
  await run(
    `select format('event %s (%s) is settled, but no listener has a delivery row', e.id, e.topic) as line from events e
     where e.pending and e.settled_at is not null
       and not exists (select 1 from event_deliveries d where d.occurred_at = e.occurred_at and d.event_id = e.id)`,
  );
  await run(
    `select format('delivery of event %s to %s is held, but no earlier delivery is failing', d.event_id, d.listener) as line
     from event_deliveries d where d.state = 'held' and d.updated_at <= $1 and not exists (
       select 1 from event_deliveries f where f.listener = d.listener and f.entity_id = d.entity_id and f.state = 'failing')`,
    [before],
  );

  const { rows: tupleRows } = await session.query<{ key: string; present: boolean; applied: boolean }>(
    `select object || ' ' || relation || ' ' || subject as key, present, applied_version = version as applied from desired_tuples`,
  );
  const desired = new Map(tupleRows.map((row) => [row.key, row]));
  for (const [key, kind] of declared)
    if (!desired.get(key)?.present) lines.push(`the tuple "${key}" of a live ${kind} is not desired`);
  for (const row of tupleRows) {
    if (row.present && !declared.has(row.key))
      lines.push(`the tuple "${row.key}" is desired, but no live row declares it`);
    if (!row.applied && graceMs === 0) lines.push(`the tuple "${row.key}" was never applied`);
  }

  const { rows: failing } = await session.query<{ eventId: string; occurredAt: Date; listener: string }>(
    `select event_id as "eventId", occurred_at as "occurredAt", listener from event_deliveries where state = 'failing' and updated_at <= $1`,
    [before],
  );
  return {
    lines,
    failing,
    tuples: new Map(tupleRows.map((row) => [row.key, row.applied ? row.present : undefined])),
  };
}
