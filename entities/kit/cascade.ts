import { sql } from 'kysely';
import { actorOf } from './caller.ts';
import { organizationOf, type RecordedChange } from './changes.ts';
import { tenancyField, type EntityModule } from './define.ts';
import { compileSql } from './read/sql.ts';
import { wholeRow } from './read/rows.ts';
import { column } from './read/column.ts';
import { writeRecords, type Written } from './records.ts';
import type { Registry } from './registry.ts';
import type { RoleSession } from './transaction.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Records that one statement deletes; what hangs on an organization may be a lot. */
const chunk = 500;

/**
 * Soft-deletes what hangs on deleted records, level by level and without reading it into the unit of work: what a kind owns
 * by its tenancy, and references that say `onDelete: 'cascade'`. History and tuples follow; events do not, because the
 * deletion that caused all is announced.
 * @param session of the system role: what goes may belong where the caller is not
 */
export async function cascade(
  session: RoleSession,
  deleted: readonly RecordedChange[],
  unit: UnitOfWork,
): Promise<Pick<Written, 'tupleChanges' | 'raisedScopes'>> {
  const { registry } = unit.database.options;
  let tupleChanges = 0;
  const raisedScopes = new Set<string>();
  const queue = [...Map.groupBy(deleted, ({ module }) => module)].map(([module, gone]) => ({
    module,
    ids: gone.map(({ id }) => id),
  }));
  for (let next = queue.shift(); next; next = queue.shift()) {
    for (const dependent of dependentsOf(registry, next.module)) {
      for (;;) {
        const gone = await deleteChunk(session, dependent, next.ids, unit);
        if (gone.length === 0) break;
        const written = await writeRecords(session, gone, [], unit);
        tupleChanges += written.tupleChanges;
        for (const scope of written.raisedScopes) raisedScopes.add(scope);
        queue.push({ module: dependent.module, ids: gone.map(({ id }) => id) });
      }
    }
  }
  return { tupleChanges, raisedScopes };
}

interface Dependent {
  readonly module: EntityModule;
  /** Its field that holds the id of the deleted record. */
  readonly field: string;
}

/** The kinds that go when a record of this one is deleted. */
export function dependentsOf(registry: Registry, owner: EntityModule): Dependent[] {
  return registry.modules.flatMap((module) => [
    ...tenancyField(module.tenancy)
      .filter((field) => field === `${owner.kind}Id`)
      .map((field) => ({ module, field })),
    ...Object.entries(module.fields)
      .filter(([, { target, onDelete }]) => target === owner.kind && onDelete === 'cascade')
      .map(([field]) => ({ module, field })),
  ]);
}

async function deleteChunk(
  session: RoleSession,
  { module, field }: Dependent,
  ownerIds: readonly string[],
  unit: UnitOfWork,
): Promise<RecordedChange[]> {
  const at = unit.database.options.clock.now();
  const actor = actorOf(unit.context.caller);
  const table = sql.table(module.table);
  const { text, values } = compileSql(sql`update ${table} as row
    set deleted_at = ${at}, deleted_by = ${actor}, updated_at = ${at}, updated_by = ${actor}, record_version = record_version + 1
    where id in (select id from ${table} as owned where ${column('owned', field)} = any(${ownerIds}) and deleted_at is null
      order by id limit ${chunk} for update)
    returning ${wholeRow(module, 'row')}`);
  const { rows } = await session.query<Record<string, unknown>>(text, values);
  return rows.map((row) => ({
    module,
    operation: 'deleted',
    id: row['id'] as string,
    recordVersion: row['recordVersion'] as number,
    organizationId: organizationOf(module, row),
    changedFields: [],
    before: { ...row, deletedAt: null },
    after: row,
    isConsequence: true,
  }));
}
