import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { recordRepair } from '#entities/kit/outbox/delivery-repairs.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { organizationsOfRemoval } from '#entities/organizations/organization-removal-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';

/** Days in which a deletion can be undone: as long as the bytes of deleted files are kept. */
const undoDays = 7;

/** An organization that is being restored. */
export interface Undeletion {
  readonly removalId: string;
  readonly organizationId: string;
  /** Number of organizations: those below it that were deleted with it are restored with it. */
  readonly organizations: number;
}

/**
 * Has a deleted organization restored: its removal is stopped, and a workflow restores what it has removed. A second call finds the first.
 * @param which the id of the organization, or of its removal
 * @throws AppError not_found; rule_violated after seven days, without history, below a deleted organization, without an owner, or when the
 * name is taken
 */
export function undeleteOrganization(
  database: Database,
  which: { readonly organizationId: string } | { readonly removalId: string },
  { operator, reason }: { readonly operator: string; readonly reason: string },
): Promise<Undeletion> {
  const context = { caller: systemCaller('undelete organization'), requestId: `undelete-${newId()}` };
  return database.transact(context, async (unit) => {
    const { data, clock } = unit;
    const named = 'removalId' in which ? which.removalId : which.organizationId;
    const found = await data.findOne(
      organizationRemoval,
      'removalId' in which ? { id: { eq: named } } : { removedOrganizationId: { eq: named } },
    );
    const removal = found && (await data.findLocked(organizationRemoval, found.id));
    if (!removal) throw new AppError('not_found', `No deleted organization has the id "${shortened(named)}".`);
    const organizations = await organizationsOfRemoval(unit, removal.id);
    const undeletion = {
      removalId: removal.id,
      organizationId: removal.removedOrganizationId,
      organizations: organizations.length,
    };
    if (removal.status === 'undoing') return undeletion;
    const name = `The organization "${removal.organizationName}"`;
    const [first] = organizations;
    if (clock.now().getTime() - removal.createdAt.getTime() > undoDays * 86_400_000)
      throw new AppError(
        'rule_violated',
        `${name} was deleted more than ${undoDays} days ago; the contents of its files are no longer kept.`,
      );
    if (!first || first.requestId === null)
      throw new AppError('rule_violated', `${name} has no history of its deletion (db.enablehistory).`);
    if (first.isBelowDeleted)
      throw new AppError('rule_violated', `${name} is below a deleted organization; undelete that first.`);
    if (!first.hasOwner)
      throw new AppError('rule_violated', `${name} has no owner any more: all have deleted their accounts.`);
    if (organizations.some(({ isNameTaken }) => isNameTaken))
      throw new AppError(
        'rule_violated',
        `${name}, or one below it, has a founder who has created another organization with the same name; rename that first.`,
      );
    for (const { removalId } of organizations) await data.update(organizationRemoval, removalId, { status: 'undoing' });
    const selection = { states: [], eventIds: [first.organizationId] };
    const repairId = `organization.${first.organizationId}/${newId()}`;
    await recordRepair(unit, { repairId, operation: 'undelete', selection, operator, reason });
    unit.emit(customEvent(organizationRemoval, 'undo_requested', removal, {}));
    return undeletion;
  });
}
