import { sql } from 'kysely';
import { lostRoles, type Place } from '../access/lost-roles.ts';
import { compareText } from '../base/compare-text.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import { afterWriting, behavioursOf, leavesOf } from './change-behaviour.ts';
import { recordChanges } from './change-log.ts';
import type { ChangeWork } from './change-work.ts';
import type { Registry } from '../model/registry.ts';
import { deleteRows } from './delete-rows.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { RoleSession } from '../storage/transaction.ts';

/** Records that one statement deletes; an organization may have very many dependents. */
const chunkSize = 500;

/**
 * Soft-deletes the dependents of deleted records, level by level and without reading them into the ORM: records that a kind owns by its
 * tenancy, references with `onDelete: 'cascade'`, and with a membership references with `onLeave: 'cascade'`, also in organizations below,
 * where the role came from it; but not what is removed later (`leaves` of a behaviour). History and tuples are recorded; events are not, because the deletion that caused all of this is announced.
 * @param session of the system role: dependents may belong to organizations that the caller is not in
 * @param changes of which the deletions are used
 */
export async function deleteDependents(
  session: RoleSession,
  changes: readonly RecordedChange[],
  work: ChangeWork,
): Promise<void> {
  const deleted = changes.filter(({ operation }) => operation === 'deleted');
  const queue = [...Map.groupBy(deleted, ({ module }) => module)].map(([module, own]) => ({
    module,
    rows: own.map(({ after }) => after),
    // Where some of it is removed later, so is what depends on the rest.
    leaves: leavesOf(module),
  }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    const { leaves } = next;
    // Together with an organization those below it are deleted, with all that belongs to them.
    const left = next.module.kind === 'membership' && !leaves ? await lostRoles(session, placesOf(next.rows)) : [];
    for (const module of left.length === 0 ? [] : work.registry.modules)
      for (const { rolesLost } of behavioursOf(module)) await rolesLost?.(session, module, left, work);
    for (const dependent of dependentsOf(work.registry, next.module)) {
      if (leaves?.(dependent.module)) continue;
      for (;;) {
        const chunk = await deleteChunk(session, dependent, [...next.rows, ...left], work);
        if (chunk.length === 0) break;
        await recordChanges(session, chunk, [], work);
        await afterWriting(session, chunk, work);
        queue.push({ module: dependent.module, rows: chunk.map(({ after }) => after), leaves });
      }
    }
  }
}

/** A kind whose records are deleted together with records of another one. */
export interface Dependent {
  readonly module: EntityModule;
  /** Pairs of a field and the field of the deleted record (`owner`) with which all must be equal. */
  readonly by: readonly { readonly field: string; readonly owner: string }[];
}

/** The kinds whose records are deleted together with a record of this kind, in the order of their tables (lock-order.ts). */
export function dependentsOf(registry: Registry, owner: EntityModule): Dependent[] {
  const dependents = registry.modules.flatMap((module): Dependent[] => {
    const fields = Object.entries(module.fields);
    const owned = [
      ...tenancyField(module.tenancy).filter((field) => field === `${owner.kind}Id`),
      ...fields
        .filter(([, { target, onDelete }]) => target === owner.kind && onDelete === 'cascade')
        .map(([name]) => name),
    ];
    const ofLeavers = owner.kind === 'membership' ? fields.filter(([, { onLeave }]) => onLeave === 'cascade') : [];
    return [
      ...owned.map((field) => ({ module, by: [{ field, owner: 'id' }] })),
      ...ofLeavers.map(([field]) => ({
        module,
        by: [
          { field: 'organizationId', owner: 'organizationId' },
          { field, owner: 'userId' },
        ],
      })),
    ];
  });
  return dependents.toSorted((a, b) => compareText(a.module.table, b.module.table));
}

/** The join predicate between dependents and the records on which they depend. */
export function dependentPredicate({ by }: Dependent, dependent: string, owner: string): Sql {
  const pairs = by.map((pair) => sql`${column(dependent, pair.field)} = ${column(owner, pair.owner)}`);
  return sql.join(pairs, sql` and `);
}

function placesOf(memberships: readonly Readonly<Record<string, unknown>>[]): Place[] {
  return memberships.map((row) => ({
    userId: row['userId'] as string,
    organizationId: row['organizationId'] as string,
  }));
}

async function deleteChunk(
  session: RoleSession,
  dependent: Dependent,
  owners: readonly Readonly<Record<string, unknown>>[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const { module, by } = dependent;
  const columns = sql.join(by.map(({ owner }) => sql`${owners.map((row) => row[owner])}::text[]`));
  const names = sql.join(by.map(({ owner }) => sql.id(snakeCase(owner))));
  const which = sql`row.id in (select owned.id from ${sql.table(module.table)} as owned join unnest(${columns}) as gone (${names})
    on ${dependentPredicate(dependent, 'owned', 'gone')} where owned.deleted_at is null order by owned.id limit ${chunkSize} for update of owned)`;
  const deleted = await deleteRows(session, module, which, work);
  return deleted.map((change) => ({ ...change, isCascaded: true }));
}
