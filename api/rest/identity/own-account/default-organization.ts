import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { defineRoute } from '../../../http/route.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { idText } from '../../../http/request-schemas.ts';

const idOrNull = Type.Union([Type.Unsafe<string>(idText), Type.Null()], {
  description: 'Id of an organization of which the user is a member; null for the one joined first.',
});

/** Colleagues do not see the field: it may name an organization that is none of theirs. */
export const setDefaultOrganization = defineRoute({
  method: 'PUT',
  url: '/v1/account/default-organization',
  operationId: 'setDefaultOrganization',
  tag: 'Account',
  summary: 'Set the default organization',
  description:
    'Sets the organization in which sign-ins begin when the user has not acted in any before, or cannot act any more where they acted last. While the user has no role there, it does not apply.',
  access: 'required',
  allowsMissingFactor: true,
  body: Type.Object({ organization_id: idOrNull }, { additionalProperties: false }),
  answers: { 200: Type.Object({ default_organization_id: idOrNull }) },
  errors: ['invalid_input', 'permission_denied', 'not_found'],
  handle: async (call) => {
    const { body, unit } = call;
    const { userId } = signedInPerson(call);
    const wanted = body.organization_id === null ? null : existingId(organization, body.organization_id);
    if (wanted !== null && (await readMembershipState(unit, userId, wanted)).role === null)
      throw missingRecord(organization, wanted);
    await unit.data.privileged('set default organization').update(user, userId, { defaultOrganizationId: wanted });
    return { status: 200, body: { default_organization_id: wanted } };
  },
});
