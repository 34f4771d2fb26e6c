import { columnsOf } from '../../base/columns-of.ts';
import { sql } from 'kysely';
import { dependentPredicate, dependentsOf } from '../cascade.ts';
import { behavioursOf, followersOf } from '../change-behaviour.ts';
import { linesOf, pageOf, type ComparedPage, type Comparison } from '../../outbox/comparison.ts';
import type { EntityModule } from '../../model/define.ts';
import type { Registry } from '../../model/registry.ts';
import { deduplicateTuples, tupleKey, type Tuple } from '../../model/tuples.ts';
import { objectComparison, objectsOfRows } from './object-comparison.ts';
import { orphanedAmong, rowTuples } from '../../outbox/row-tuples.ts';
import {
  deliveryComparison,
  eventComparison,
  historyComparison,
  listenerComparison,
} from './recorded-inconsistencies.ts';
import { wakeComparison } from '../../outbox/workflow-wakes.ts';
import { compileSql, type Sql } from '../../storage/sql.ts';
import type { RoleSession } from '../../storage/transaction.ts';

/**
 * Comparisons that find contradictions between rows, history, events, deliveries, desired tuples and stored objects, whatever the kinds are.
 * @param recordHistory `db.enablehistory`
 */
export function comparisonsOf(registry: Registry, recordHistory: boolean): Comparison[] {
  return [
    ...registry.modules.map((module) => recordComparison(registry, module, recordHistory)),
    ...(recordHistory ? [historyComparison(registry)] : []),
    eventComparison(registry, recordHistory),
    deliveryComparison,
    listenerComparison,
    wakeComparison,
    desiredComparison,
    objectComparison(registry),
  ];
}

/** Compares the rows of a kind with their history, their kind, their dependents, their files and their desired tuples. */
function recordComparison(registry: Registry, module: EntityModule, recordHistory: boolean): Comparison {
  return {
    name: module.table,
    first: [''],
    page: async (work, { after, limit }): Promise<ComparedPage> => {
      const session = await work.readAs('system');
      const { rows } = await session.query<{ id: string }>(
        `select id from ${module.table} where id > $1 order by id limit $2`,
        [...after, limit],
      );
      const page = pageOf(rows, limit, ({ id }) => [id]);
      if (rows.length === 0) return { lines: [], ...page };
      const ids = rows.map(({ id }) => id);
      const lines: string[] = [];
      if (recordHistory)
        lines.push(
          ...(await linesOf(
            session,
            `select format('%s %s is at version %s, its history at %s', $1::text, r.id, r.record_version, coalesce(max(h.record_version)::text, 'none')) as line
             from ${module.table} r left join history h on h.entity_kind = $1 and h.entity_id = r.id
             where r.id = any($2)
             group by r.id, r.record_version having coalesce(max(h.record_version), 0) <> r.record_version or count(h.id) <> r.record_version`,
            [module.topic, ids],
          )),
        );
      lines.push(
        ...(await linesOf(
          session,
          `select format('%s %s has the wrong kind in record_kinds: %s', $1::text, r.id, coalesce(k.kind, 'none')) as line
           from ${module.table} r left join record_kinds k on k.id = r.id where k.kind is distinct from $1 and r.id = any($2)`,
          [module.topic, ids],
        )),
      );
      for (const dependent of dependentsOf(registry, module)) {
        const { text, values } = compileSql(
          sql`select format('%s %s is live, but its parent %s is deleted', ${dependent.module.topic}::text, d.id, ${module.topic}::text) as line
           from ${sql.table(dependent.module.table)} d join ${sql.table(module.table)} o on ${dependentPredicate(dependent, 'd', 'o')}
           where d.deleted_at is null and o.deleted_at is not null and o.id = any(${ids}) and ${isSettled(registry, dependent.module)} and not exists (
             -- A person who left may have joined again.
             select 1 from ${sql.table(module.table)} o where ${dependentPredicate(dependent, 'd', 'o')} and o.deleted_at is null)
             ${module.kind === 'membership' ? hasNoRole : sql``}`,
        );
        lines.push(...(await linesOf(session, text, values)));
      }
      for (const { module: follower, follows } of followersOf(registry, module))
        lines.push(...(await follows.compare(session, { follower, followed: module }, ids)));
      lines.push(...(await objectsOfRows(session, module, ids)));
      if (module.grants?.length) lines.push(...(await undesiredTuples(session, module, after[0] ?? '', ids)));
      return { lines, ...page };
    },
  };
}

/** SQL: the removal of the record `d` of a kind is not still to come. */
function isSettled(registry: Registry, dependent: EntityModule): Sql {
  const conditions = registry.modules.flatMap((module) =>
    behavioursOf(module).flatMap((behaviour) => behaviour.isSettled?.(registry, dependent) ?? []),
  );
  return sql.join([sql`true`, ...conditions], sql` and `);
}

/** For a deleted membership `o`: the person has no role of an organization above either. */
const hasNoRole = sql`and not exists (select 1 from memberships m where m.user_id = o.user_id and m.deleted_at is null
  and m.organization_id in (select c.id from organization_chain(o.organization_id) c))`;

/** Tuples of the live rows among these that are not desired. */
async function undesiredTuples(
  session: RoleSession,
  module: EntityModule,
  after: string,
  ids: readonly string[],
): Promise<string[]> {
  // As many live rows as there are ids reach at least as far as the last id.
  const live = await rowTuples(session, module, { after, limit: ids.length });
  const own = new Set(ids);
  const declared = deduplicateTuples(live.filter(({ id }) => own.has(id)).flatMap(({ tuples }) => tuples));
  const { rows: desired } = await session.query<Tuple>(
    `select object, relation, subject from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject)
     join desired_tuples held using (object, relation, subject) where held.present`,
    columnsOf(declared, 'object', 'relation', 'subject'),
  );
  const keys = new Set(desired.map(tupleKey));
  return declared
    .filter((tuple) => !keys.has(tupleKey(tuple)))
    .map((tuple) => `the tuple "${nameOf(tuple)}" of a live ${module.kind} is not desired`);
}

/** Compares desired tuples with the rows that declare them. */
const desiredComparison: Comparison = {
  name: 'desired tuples',
  first: ['', '', ''],
  page: async (work, { after, limit, graceMs }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    const { rows } = await session.query<Tuple & { present: boolean; applied: boolean }>(
      `select object, relation, subject, present, applied_version = version as applied from desired_tuples
       where (object, relation, subject) > ($1, $2, $3) order by object, relation, subject limit $4`,
      [...after, limit],
    );
    const orphaned = await orphanedAmong(
      session,
      work.registry,
      rows.filter(({ present }) => present),
    );
    const lines = orphaned.map((tuple) => `the tuple "${nameOf(tuple)}" is desired, but no live row declares it`);
    if (graceMs === 0)
      for (const row of rows) if (!row.applied) lines.push(`the tuple "${nameOf(row)}" was never applied`);
    return { lines, ...pageOf(rows, limit, ({ object, relation, subject }) => [object, relation, subject]) };
  },
};

/** A tuple as lines of the report name it. */
export function nameOf({ object, relation, subject }: Tuple): string {
  return `${object} ${relation} ${subject}`;
}
