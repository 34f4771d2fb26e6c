import type { user } from '#entities/identity/user.ts';
import { invite } from '#entities/organizations/invite.ts';
import { membership } from '#entities/organizations/membership.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { UsableInvite } from './usable-invite.ts';

/**
 * Makes an invited person a member of the organization, once.
 * @param person has proven to own the address of the invitation
 * @throws AppError already_exists
 */
export async function joinOrganization(
  unit: UnitOfWork,
  data: DataClient,
  { invite: held, organization }: UsableInvite,
  person: Pick<RowOf<typeof user>, 'id'>,
): Promise<void> {
  if (organization.isPersonal) throw invalidToken('invite');
  const where = { organizationId: { eq: organization.id }, userId: { eq: person.id } };
  if (await data.findOne(membership, where))
    throw new AppError('already_exists', 'You are already a member of this organization.');
  await data.create(membership, { organizationId: organization.id, userId: person.id, role: held.role });
  const accepted = await data.update(invite, held.id, { status: 'accepted' });
  unit.emit(customEvent(invite, 'accepted', accepted, {}));
}
