import { sql } from 'kysely';
import { actorOf } from '../model/caller.ts';
import { organizationOf, type RecordedChange } from '../model/changes.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import type { Sql } from '../storage/sql.ts';
import { column } from '../storage/column.ts';
import type { ChangeEffects } from './change-effects.ts';
import { recordChanges } from './change-log.ts';
import type { ChangeWork } from './change-work.ts';
import type { EventDraft } from './event-draft.ts';
import type { Registry } from '../model/registry.ts';
import { updateRows } from './update-rows.ts';
import { snakeCase } from '../base/snake-case.ts';
import type { DatabaseRole, RoleSession, Transaction } from '../storage/transaction.ts';

/** Records that one statement deletes; what hangs on an organization may be a lot. */
const chunk = 500;

/** Writes what follows from changes that were made under this role: their records, and the end of what hangs on deleted ones. */
export async function recordWithCascades(
  transaction: Transaction,
  role: DatabaseRole,
  changes: readonly RecordedChange[],
  events: readonly EventDraft[],
  work: ChangeWork,
): Promise<ChangeEffects> {
  const written = await recordChanges(transaction.as(role), changes, events, work);
  const deleted = changes.filter(({ operation }) => operation === 'deleted');
  if (deleted.length === 0) return written;
  const { tupleChanges, raisedScopes } = await cascade(transaction.as('system'), deleted, work);
  return {
    ...written,
    tupleChanges: written.tupleChanges + tupleChanges,
    raisedScopes: written.raisedScopes.union(raisedScopes),
  };
}

/**
 * Soft-deletes what hangs on deleted records, level by level and without reading it into the unit of work: what a kind owns
 * by its tenancy, references that say `onDelete: 'cascade'`, and with a membership what says `onLeave: 'cascade'`. History and tuples follow; events do not, because the
 * deletion that caused all is announced.
 * @param session of the system role: what goes may belong where the caller is not
 */
async function cascade(
  session: RoleSession,
  deleted: readonly RecordedChange[],
  work: ChangeWork,
): Promise<Pick<ChangeEffects, 'tupleChanges' | 'raisedScopes'>> {
  const { registry } = work;
  let tupleChanges = 0;
  const raisedScopes = new Set<string>();
  const queue = [...Map.groupBy(deleted, ({ module }) => module)].map(([module, gone]) => ({
    module,
    rows: gone.map(({ after }) => after),
  }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const dependent of dependentsOf(registry, next.module)) {
      for (;;) {
        const gone = await deleteChunk(session, dependent, next.rows, work);
        if (gone.length === 0) break;
        const written = await recordChanges(session, gone, [], work);
        tupleChanges += written.tupleChanges;
        for (const scope of written.raisedScopes) raisedScopes.add(scope);
        queue.push({ module: dependent.module, rows: gone.map(({ after }) => after) });
      }
    }
  }
  return { tupleChanges, raisedScopes };
}

interface Dependent {
  readonly module: EntityModule;
  /** Its fields that hold what fields of the deleted record hold; all of them must. */
  readonly by: readonly { readonly field: string; readonly owner: string }[];
}

/** The kinds that go when a record of this one is deleted. */
export function dependentsOf(registry: Registry, owner: EntityModule): Dependent[] {
  return registry.modules.flatMap((module) => {
    const fields = Object.entries(module.fields);
    const owned = [
      ...tenancyField(module.tenancy).filter((field) => field === `${owner.kind}Id`),
      ...fields
        .filter(([, { target, onDelete }]) => target === owner.kind && onDelete === 'cascade')
        .map(([name]) => name),
    ];
    const left = owner.kind === 'membership' ? fields.filter(([, { onLeave }]) => onLeave === 'cascade') : [];
    return [
      ...owned.map((field) => ({ module, by: [{ field, owner: 'id' }] })),
      ...left.map(([field]) => ({
        module,
        by: [
          { field: 'organizationId', owner: 'organizationId' },
          { field, owner: 'userId' },
        ],
      })),
    ];
  });
}

/** What ties dependents to the records they hang on. */
export function dependency({ by }: Dependent, dependent: string, owner: string): Sql {
  const pairs = by.map((pair) => sql`${column(dependent, pair.field)} = ${column(owner, pair.owner)}`);
  return sql.join(pairs, sql` and `);
}

async function deleteChunk(
  session: RoleSession,
  dependent: Dependent,
  owners: readonly Readonly<Record<string, unknown>>[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const { module, by } = dependent;
  const stamp = { at: work.clock.now(), actor: actorOf(work.context.caller) };
  const columns = sql.join(by.map(({ owner }) => sql`${owners.map((row) => row[owner])}::text[]`));
  const names = sql.join(by.map(({ owner }) => sql.id(snakeCase(owner))));
  const rows = await updateRows(session, module, {
    values: { deletedAt: stamp.at, deletedBy: stamp.actor },
    which: sql`row.id in (select owned.id from ${sql.table(module.table)} as owned join unnest(${columns}) as gone (${names})
      on ${dependency(dependent, 'owned', 'gone')} where owned.deleted_at is null order by owned.id limit ${chunk} for update of owned)`,
    stamp,
  });
  return rows.map((row) => ({
    module,
    operation: 'deleted',
    id: row['id'] as string,
    recordVersion: row['recordVersion'] as number,
    organizationId: organizationOf(module, row),
    changedFields: [],
    before: { ...row, deletedAt: null },
    after: row,
    isCascaded: true,
  }));
}
