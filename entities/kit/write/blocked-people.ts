import { sql } from 'kysely';
import { AppError } from '../base/errors.ts';
import { actorOf, callerOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { maxHierarchyDepth } from '../model/hierarchy.ts';
import { shareKindOf } from '../model/derived/share.ts';
import { passingFields } from '../model/policy.ts';
import type { Registry } from '../model/registry.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeWork } from './change-work.ts';
import type { NewRow } from './creations.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Rejects blocks (share.ts) of groups with a member from whom the caller has its own right to the record: people who shared the record, or
 * one above it, with a group of the caller, and people who may remove a record above it. Callers who may remove the record itself need no
 * check: a block does not affect them.
 * @throws AppError permission_denied
 */
export async function refuseBlockingGranters(work: ChangeWork, caller: Caller, rows: readonly NewRow[]): Promise<void> {
  if (caller.kind !== 'user') return;
  for (const { module, row, path } of rows) {
    const { restricted } = module;
    if (!restricted || row[restricted.field] !== restricted.is) continue;
    const session = await work.readAs('app');
    const target = work.registry.references.targetOf(module, restricted.on);
    const actors = await grantersOf(session, work.registry, target, row[restricted.on] as string, caller);
    actors.delete(actorOf(caller));
    const { text, values } = compileSql(sql`select 1 from group_memberships as m
      where m.group_id = ${row['groupId']} and m.deleted_at is null and 'user:' || m.user_id = any(${[...actors]}) limit 1`);
    if (actors.size === 0 || (await session.query(text, values)).rows.length === 0) continue;
    const problem = 'has a member from whom you have your own right to the record, so you cannot block it';
    throw new AppError('permission_denied', `The group ${problem}.`, {
      details: { fields: [{ path: `${path}/groupId`, message: problem }] },
    });
  }
}

/** Actors (`actorOf`) who gave the caller's groups a right to the record or to one above it, or who may remove one above it. */
async function grantersOf(
  session: RoleSession,
  registry: Registry,
  first: EntityModule,
  id: string,
  caller: Caller,
): Promise<Set<string>> {
  const actors = new Set<string>();
  let level: { module: EntityModule; id: string }[] = [{ module: first, id }];
  for (let depth = 0; level.length > 0 && depth <= maxHierarchyDepth; depth++) {
    const above: typeof level = [];
    for (const { module, id: recordId } of level) {
      const { text, values } = compileSql(recordWithShares(registry, module, recordId, caller));
      const [found] = (await session.query<{ record: Row; granters: readonly string[] | null }>(text, values)).rows;
      for (const actor of found?.granters ?? []) actors.add(actor);
      if (depth > 0) for (const actor of removersOf(module, found?.record ?? {})) actors.add(actor);
      for (const field of passingFields(module.policy)) {
        const parent = found?.record[field];
        if (typeof parent === 'string') above.push({ module: registry.references.targetOf(module, field), id: parent });
      }
    }
    level = above;
  }
  return actors;
}

/** A record with the fields that name people and parents, and the creators of its shares with groups of the caller. */
function recordWithShares(registry: Registry, module: EntityModule, id: string, { groupIds }: Caller): Sql {
  const names = [...new Set([...peopleFields(module), ...passingFields(module.policy)])];
  const pairs = names.flatMap((name) => [sql`${name}::text`, column('row', name)]);
  const share = module.share ? registry.byKind(shareKindOf(module)) : undefined;
  const granters = share
    ? sql`array(select s.created_by from ${sql.table(share.table)} as s where ${column('s', `${module.kind}Id`)} = row.id
        and s.group_id = any(${groupIds}) and s.relation <> 'blocked' and s.deleted_at is null)`
    : sql`null::text[]`;
  return sql`select jsonb_build_object(${sql.join(pairs)}) as record, ${granters} as granters
    from ${sql.table(module.table)} as row where row.id = ${id} and row.deleted_at is null`;
}

/** Fields that name people with a relation that lets them remove the record. */
function peopleFields({ kind, policy, grants = [] }: EntityModule): string[] {
  const relations = new Set(
    (policy?.remove ?? []).flatMap(({ effect, when }) =>
      effect === 'allow' && when.is === 'related' ? when.relations : [],
    ),
  );
  return grants
    .filter(({ object, subject }) => object.kind === kind && object.id === 'id' && subject.kind === 'user')
    .filter(({ relation }) => typeof relation === 'string' && relations.has(relation))
    .map(({ subject }) => subject.id);
}

function removersOf(module: EntityModule, record: Row): string[] {
  return peopleFields(module).flatMap((name) => {
    const subjectId = record[name];
    return typeof subjectId === 'string' ? [actorOf(callerOf({ kind: 'user', subjectId }))] : [];
  });
}
