import { Type } from 'typebox';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { user } from '#entities/identity/user.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

/** Both roles change in one transaction, with the rights of the owner. */
export const transferOwnership = defineRoute({
  method: 'POST',
  url: '/v1/organizations/:id/transfer-ownership',
  tag: 'Organizations',
  summary: 'Transfer the ownership of an organization',
  description:
    'Makes another member an owner of the current organization; the caller, who is an owner, becomes an admin. The caller has signed in, or called /v1/2fa/step-up, within the last ten minutes.',
  access: 'required',
  params: Type.Object({ id: Type.String({ maxLength: 26, description: 'Id of the organization.' }) }),
  body: Type.Object(
    { user_id: Type.String({ minLength: 1, maxLength: 26, description: 'Id of the member who becomes an owner.' }) },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'not_found', 'permission_denied', 'step_up_required'],
  handle: async (call) => {
    const { unit, params, body, request } = call;
    const { data } = unit;
    const { caller } = unit.context;
    const ownId = caller.subjectId ?? '';
    const wanted = existingId(organization, params['id'] ?? '');
    const { name } = await data.get(organization, wanted);
    const nextId = existingId(user, body.user_id);
    // Locked before their memberships, as by all who change accounts: whoever becomes an owner is not deactivated meanwhile.
    for (const id of [ownId, nextId].toSorted()) await data.findLocked(user, id);
    const own = await membershipOf(data, wanted, ownId);
    if (!request.core.claims || caller.organizationId !== wanted || own?.role !== 'owner')
      throw new AppError(
        'permission_denied',
        'Only an owner who is signed in to the organization can transfer its ownership; see /v1/switch.',
      );
    await requireOrganizationProof(call);
    if (nextId === ownId) throw new AppError('invalid_input', 'user_id is yourself; name another member.');
    const next = await membershipOf(data, wanted, nextId);
    if (!next) throw missingRecord(user, nextId);
    if ((await data.get(user, nextId)).status !== 'active')
      throw new AppError('invalid_input', 'The account of user_id is not active; name another member.');
    await data.lockAll([{ module: membership, ids: [own.id, next.id], operation: 'edit', values: {} }]);
    await data.update(membership, next.id, { role: 'owner' });
    await data.update(membership, own.id, { role: 'admin' });
    return { status: 200, body: { message: `The ownership of ${name} is transferred; you are an admin now.` } };
  },
});

async function membershipOf(data: DataClient, organizationId: string, userId: string) {
  return data.findOne(membership, { organizationId: { eq: organizationId }, userId: { eq: userId } });
}
