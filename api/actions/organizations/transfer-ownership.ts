import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { switchTo } from '#entities/kit/model/current-organization.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Both roles change in one transaction, with the rights of the owner. */
export const transferOwnership = defineAction({
  name: 'transferOwnership',
  url: '/v1/organizations/:id/transfer-ownership',
  tag: 'Organizations',
  summary: 'Transfer the ownership of an organization',
  description:
    'Makes another member an owner of the current organization; the caller, who is an owner, becomes an admin. The caller must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  input: {
    id: idSchema('Id of the organization.'),
    userId: idSchema('Id of the member who becomes an owner.'),
  },
  answer: {
    organization: selectableRecord(organization),
    membership: selectableRecord(membership, 'Membership of the new owner.'),
    message,
  },
  errors: ['invalid_input', 'not_found', 'permission_denied', 'step_up_required'],
  run: async (asking, { id, userId }) => {
    const { unit, request } = asking;
    const { data } = unit;
    const { caller } = unit.context;
    const ownId = caller.subjectId ?? '';
    const wanted = existingId(organization, id);
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
      if (nextId === ownId) throw inputError([{ path: '/userId', message: 'is you; name another member' }]);
      const next = await membershipOf(data, wanted, nextId);
      if (!next) throw missingRecord(user, nextId);
      return { own, next };
    };
    // Before anything is locked: whoever may not do this does not hold up what others do with their accounts.
    await members();
    // Locked before their memberships, as by all who change accounts: whoever becomes an owner is not deactivated meanwhile.
    for (const personId of [ownId, nextId].toSorted()) await data.findLocked(user, personId);
    const { own, next } = await members();
    if ((await data.get(user, nextId)).status !== 'active')
      throw inputError([{ path: '/userId', message: 'names an account that is not active; name another member' }]);
    await data.lockAll([{ module: membership, ids: [own.id, next.id], operation: 'edit', values: {} }]);
    await data.update(membership, next.id, { role: 'owner' });
    // Nobody gives up what the other person does not have yet.
    if (data.isHeld(next.id)) {
      const message = `The transfer of ${home.name} waits for an approval. You are still an owner, also when it is approved.`;
      return { organization: home.id, membership: next.id, message };
    }
    await data.update(membership, own.id, { role: 'admin' });
    return {
      organization: home.id,
      membership: next.id,
      message: `The ownership of ${home.name} is transferred; you are an admin now.`,
    };
  },
});

async function membershipOf(data: DataClient, organizationId: string, userId: string) {
  return data.findOne(membership, { organizationId: { eq: organizationId }, userId: { eq: userId } });
}
