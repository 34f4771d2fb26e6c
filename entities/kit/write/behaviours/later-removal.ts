import { sql } from 'kysely';
import { actorOf } from '../../model/caller.ts';
import type { EntityModule } from '../../model/define.ts';
import type { LaterRemoval } from '../../model/record-rules.ts';
import type { Registry } from '../../model/registry.ts';
import { column } from '../../storage/column.ts';
import { type Sql } from '../../storage/sql.ts';
import type { RoleSession } from '../../storage/transaction.ts';
import { recordChanges } from '../change-log.ts';
import type { ChangeWork } from '../change-work.ts';
import { insertRows } from '../insert-rows.ts';

type Row = Readonly<Record<string, unknown>>;

/** Whether the records of a kind are removed later, when what they belong to is deleted. */
export function isRemovedLater({ atOnce }: LaterRemoval, { kind, tenancy }: EntityModule): boolean {
  return tenancy === 'organization' && !atOnce.includes(kind);
}

/** Records that the contents of deleted records are to be removed: the event of this record starts it. */
export async function recordRemovals(
  session: RoleSession,
  module: EntityModule,
  deleted: readonly Row[],
  work: ChangeWork,
): Promise<void> {
  const { kind, fields } = module.removal as LaterRemoval;
  // A registry of a test may lack it.
  const removal = work.registry.modules.find((one) => one.kind === kind);
  if (!removal) return;
  const { caller } = work.context;
  const rows = deleted.map((row) => ({
    [fields.id]: row['id'],
    [fields.name]: row['name'],
    [fields.person]: caller.kind === 'user' ? caller.subjectId : null,
  }));
  const stamp = { at: work.clock.now(), actor: actorOf(caller) };
  await recordChanges(session, await insertRows(session, removal, rows, stamp), [], work);
}

/** SQL: the record `d` of this kind does not belong to a deleted record whose contents are still to be removed. */
export function isNotAwaitingRemoval(registry: Registry, dependent: EntityModule): Sql {
  const { removal } = registry.modules.find((module) => module.removal) ?? {};
  const kept = removal && registry.modules.find(({ kind }) => kind === removal.kind);
  if (!removal || !kept || !isRemovedLater(removal, dependent)) return sql`true`;
  return sql`not exists (select 1 from ${sql.table(kept.table)} as removal
    where ${column('removal', removal.fields.id)} = d.organization_id and removal.status <> 'completed')`;
}
