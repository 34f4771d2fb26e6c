import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { defineRoute } from '../../http/route.ts';
import { beginSession, SessionSchema } from './session-answer.ts';

/** The current token stays valid, so that a user can work in two organizations at the same time. */
export const switchOrganization = defineRoute({
  method: 'POST',
  url: '/v1/switch',
  tag: 'Account',
  summary: 'Switch to another organization',
  description:
    'Returns an access token for another organization of which the user is a member and sets it as a cookie for browsers. Sets a new CSRF cookie for the session.',
  access: 'required',
  body: Type.Object(
    { target_organization_id: Type.String({ minLength: 1, maxLength: 26, description: 'Id of the organization.' }) },
    { additionalProperties: false },
  ),
  answers: { 200: SessionSchema },
  errors: ['invalid_input', 'not_found'],
  handle: async (call) => {
    const { body, unit } = call;
    const { kind, subjectId } = unit.context.caller;
    if (kind !== 'user' || subjectId === null)
      throw new AppError('permission_denied', 'Only users can switch between organizations.');
    const wanted = existingId(organization, body.target_organization_id);
    const { role } = await readMembershipState(unit, subjectId, wanted);
    if (role === null) throw missingRecord(organization, wanted);
    return beginSession(call, subjectId, wanted);
  },
});
