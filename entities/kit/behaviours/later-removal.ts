import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { column } from '../storage/column.ts';
import type { Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';
import { recordChanges } from '../write/change-log.ts';
import { stampOf, type ChangeWork } from '../write/change-work.ts';
import { insertRows } from '../write/insert-rows.ts';

type Row = Readonly<Record<string, unknown>>;

interface LaterRemoval {
  /** Kind of the record that is created with the deletion, and says how far the removal is. */
  readonly kind: string;
  /** Its fields for the id and the name of the deleted record, and for the id of the person who deleted it. */
  readonly fields: { readonly id: string; readonly name: string; readonly person: string };
  /** Kinds whose records end with the deletion: they admit to an organization, or are found without being in it. */
  readonly atOnce: readonly string[];
  /** Kinds whose records stay deleted when the deletion is undone, besides those of which each has a secret. */
  readonly forGood: readonly string[];
  /** Fields, by their kind, with which somebody announces the deletion. */
  readonly announcedBy: Readonly<Record<string, readonly string[]>>;
  /** Addition to the descriptions of a deletion: sentences. */
  readonly note: string;
}

/**
 * Behaviour: records that belong to the records of the kind and can be reached only through them are hidden by their deletion, and removed
 * afterwards, in pieces: however much there is, a deletion takes a moment.
 */
export function laterRemoval(removal: LaterRemoval): ChangeBehaviour<never> {
  return {
    fields: [],
    deletionNote: removal.note,
    admittingKinds: removal.atOnce,
    announcingFields: removal.announcedBy,
    written: async (session, changes, work) => {
      const deleted = changes.filter(({ operation }) => operation === 'deleted').map(({ after }) => after);
      if (deleted.length > 0) await recordRemovals(removal, session, deleted, work);
    },
    leaves: (dependent) => isRemovedLater(removal, dependent),
    restores: (dependent) => isRestored(removal, dependent),
    isSettled: (registry, dependent) => isNotAwaitingRemoval(removal, registry, dependent),
  };
}

/** Whether the records of a kind are removed later, when what they belong to is deleted. */
function isRemovedLater({ atOnce }: LaterRemoval, { kind, tenancy }: EntityModule): boolean {
  return tenancy === 'organization' && !atOnce.includes(kind);
}

/** The owner of a credential may not be meant to have it any more, and secrets are erased: others are made. */
function isRestored({ forGood }: LaterRemoval, { kind, tenancy, fields }: EntityModule): boolean {
  const isCredential = Object.values(fields).some(({ secret, optional }) => secret && !optional);
  return tenancy === 'organization' && !isCredential && !forGood.includes(kind);
}

/** Records that the contents of deleted records are to be removed: the event of this record starts it. */
async function recordRemovals(
  { kind, fields }: LaterRemoval,
  session: RoleSession,
  deleted: readonly Row[],
  work: ChangeWork,
): Promise<void> {
  // A registry of a test may lack it.
  const removal = work.registry.modules.find((one) => one.kind === kind);
  if (!removal) return;
  const { caller } = work.context;
  const rows = deleted.map((row) => ({
    [fields.id]: row['id'],
    [fields.name]: row['name'],
    [fields.person]: caller.kind === 'user' ? caller.subjectId : null,
  }));
  await recordChanges(session, await insertRows(session, removal, rows, stampOf(work)), [], work);
}

function isNotAwaitingRemoval(removal: LaterRemoval, registry: Registry, dependent: EntityModule): Sql {
  const kept = registry.modules.find(({ kind }) => kind === removal.kind);
  if (!kept || !isRemovedLater(removal, dependent)) return sql`true`;
  return sql`not exists (select 1 from ${sql.table(kept.table)} as removal
    where ${column('removal', removal.fields.id)} = d.organization_id and removal.status <> 'completed')`;
}
