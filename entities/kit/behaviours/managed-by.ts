import { sql } from 'kysely';
import type { Place } from '../access/lost-roles.ts';
import type { Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { mayAll } from '../model/policy.ts';
import { changeOf } from '../model/recorded-changes.ts';
import { column } from '../storage/column.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeBehaviour, Completing } from '../write/change-behaviour.ts';
import { recordChanges } from '../write/change-log.ts';
import { stampOf, type ChangeWork } from '../write/change-work.ts';
import type { Creation } from '../write/creations.ts';
import { updateRows } from '../write/update-rows.ts';

/** Makes a person the manager of a record by a record of another kind. */
interface ManagedBy<Name extends string> {
  readonly kind: string;
  /** Its reference to the managed record. */
  readonly record: string;
  /** Its reference to the person. */
  readonly person: string;
  readonly values: Readonly<Record<string, unknown>>;
  /**
   * Field of the managed record itself for a person whose role comes from a parent organization alone: only members of the organization
   * can have the other record.
   */
  readonly outside: Name;
}

/**
 * Behaviour: the person who creates a record becomes its manager in the same transaction, so whoever may create a record sees it in the
 * answer and afterwards. People who may edit all records of the kind because of their role need not become managers.
 */
export function managedBy<const Name extends string>(managed: ManagedBy<Name>): ChangeBehaviour<Name> {
  return {
    fields: [managed.outside],
    complete: (creation, completing) => withManager(managed, creation, completing),
    rolesLost: (session, module, left, work) => endManagement(managed.outside, session, module, left, work),
  };
}

function withManager(managed: ManagedBy<string>, creation: Creation, { caller, registry }: Completing): Creation {
  const { module, path, children = [] } = creation;
  if (caller.kind !== 'user' || mayAll(module.policy, caller, { kind: module.kind, operation: 'edit' }))
    return creation;
  if (!isMember(caller)) return { ...creation, input: { ...creation.input, [managed.outside]: caller.subjectId } };
  const manager: Creation = {
    module: registry.byKind(managed.kind),
    input: { ...managed.values, [managed.person]: caller.subjectId },
    path,
    isGranted: true,
  };
  return { ...creation, children: [{ field: managed.record, creation: manager }, ...children] };
}

/** Every member of an organization is in one of its managed groups, and nobody else is in a group (entities/groups/group-membership.ts). */
function isMember({ groupIds }: Caller): boolean {
  return groupIds.length > 0;
}

/** Takes records from people who managed them with a role of an organization above, which they have lost. */
async function endManagement(
  field: string,
  session: RoleSession,
  module: EntityModule,
  left: readonly Place[],
  work: ChangeWork,
): Promise<void> {
  const stamp = stampOf(work);
  for (const [userId, places] of Map.groupBy(left, (place) => place.userId)) {
    const rows = await updateRows(session, module, {
      values: { [field]: null },
      which: sql`row.deleted_at is null and ${column('row', field)} = ${userId}
        and row.organization_id = any(${places.map(({ organizationId }) => organizationId)})`,
      stamp,
    });
    const changes = rows.map((row) => ({
      ...changeOf(module, { ...row, [field]: userId }, row, [field]),
      isConsequence: true as const,
    }));
    if (changes.length > 0) await recordChanges(session, changes, [], work);
  }
}
