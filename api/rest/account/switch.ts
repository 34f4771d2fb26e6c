import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { defineRoute } from '../../http/route.ts';
import { beginSession, SessionSchema } from './session-answer.ts';

/** The token presented stays what it is, for whoever works in two organizations at a time. */
export const switchOrganization = defineRoute({
  method: 'POST',
  url: '/v1/switch',
  tag: 'Account',
  summary: 'Act in another organization',
  description:
    'Answers with an access token for an organization in which you have a role, and sets it as a cookie for browsers. The CSRF cookie is renewed for the new session.',
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
      throw new AppError('permission_denied', 'Only people switch between organizations.');
    const wanted = existingId(organization, body.target_organization_id);
    const { role } = await readMembershipState(unit, subjectId, wanted);
    if (role === null) throw missingRecord(organization, wanted);
    return beginSession(call, subjectId, wanted);
  },
});
