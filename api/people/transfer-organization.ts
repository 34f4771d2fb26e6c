import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { switchTo } from '#entities/kit/model/current-organization.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireOrganizationProof } from '../credentials/recent-proof.ts';

interface Transfer {
  readonly organizationId: string;
  /** The member who becomes an owner. */
  readonly userId: string;
}

/** Changes of a transfer. */
export interface Transferred {
  readonly organization: RowOf<typeof organization>;
  /** Id of the membership of the new owner. */
  readonly membershipId: string;
}

/**
 * Makes another member an owner of the current organization; the caller, who is an owner, becomes an admin. Both roles change in one
 * transaction, with the rights of the owner.
 * @param userField path of the field that names the member, for the errors
 * @throws AppError invalid_input, not_found, permission_denied, step_up_required
 */
export async function transferOrganization(
  asking: Asking,
  { organizationId, userId }: Transfer,
  userField: string,
): Promise<Transferred> {
  const { unit, request } = asking;
  const { data } = unit;
  const { caller } = unit.context;
  const ownId = caller.subjectId ?? '';
  const wanted = existingId(organization, organizationId);
  const home = await data.get(organization, wanted);
  const nextId = existingId(user, userId);
  const members = async () => {
    const own = await membershipOf(data, wanted, ownId);
    if (!request.core.claims || caller.organizationId !== wanted || own?.role !== 'owner')
      throw new AppError(
        'permission_denied',
        `Only an owner who acts in the organization can transfer its ownership. You act in ${caller.organizationId ?? 'none'}; if you are an owner of this one, ${switchTo(wanted)}.`,
      );
    await requireOrganizationProof(asking);
    if (nextId === ownId) throw inputError([{ path: userField, message: 'is you; name another member' }]);
    const next = await membershipOf(data, wanted, nextId);
    if (!next) throw missingRecord(user, nextId);
    return { own, next };
  };
  // Before anything is locked: whoever may not do this does not hold up what others do with their accounts.
  await members();
  // Locked before their memberships, as by all who change accounts: whoever becomes an owner is not deactivated meanwhile.
  for (const id of [ownId, nextId].toSorted()) await data.findLocked(user, id);
  const { own, next } = await members();
  if ((await data.get(user, nextId)).status !== 'active')
    throw inputError([{ path: userField, message: 'names an account that is not active; name another member' }]);
  await data.lockAll([{ module: membership, ids: [own.id, next.id], operation: 'edit', values: {} }]);
  await data.update(membership, next.id, { role: 'owner' });
  await data.update(membership, own.id, { role: 'admin' });
  return { organization: home, membershipId: next.id };
}

async function membershipOf(data: DataClient, organizationId: string, userId: string) {
  return data.findOne(membership, { organizationId: { eq: organizationId }, userId: { eq: userId } });
}
