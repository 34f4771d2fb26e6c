import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { user } from '#entities/identity/user.ts';
import { session } from '#entities/identity/session.ts';
import { noteSeen } from '#entities/identity/last-seen-rows.ts';
import { readEntry } from '#entities/kit/access/single-sign-on.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { notAnId } from '#entities/kit/base/schema-problem.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { missingRecord } from '#entities/kit/model/missing-record.ts';
import { secondFactorRequired } from '../../../http/request-caller.ts';
import { clientAddress } from '../../../http/limits/client-address.ts';
import { signInFirst } from '../../../http/plugins/sign-in-first.ts';
import { defineRoute } from '../../../http/route.ts';
import { singleSignOnRequired } from '../../../credentials/single-sign-on-required.ts';
import { accessAnswer, AccessSchema } from './session-answer.ts';
import { issueAccess } from './session-tokens.ts';
import { idSchema } from '../../../http/request-schemas.ts';

/** The current token stays valid, so that a user can work in two organizations at the same time. */
export const switchOrganization = defineRoute({
  method: 'POST',
  url: '/v1/switch',
  operationId: 'switchOrganization',
  tag: 'Account',
  summary: 'Switch to another organization',
  description:
    'Returns an access token for another organization of which the user is a member and sets it as a cookie for browsers. The session stays the same: the token ends with it, at the latest when it expires, and /v1/refresh continues in this organization.',
  access: 'required',
  answersCredential: true,
  acceptsSingleSignOn: true,
  body: Type.Object({ target_organization_id: idSchema('Id of the organization.') }, { additionalProperties: false }),
  allowsMissingFactor: true,
  answers: { 200: AccessSchema },
  errors: ['invalid_input', 'not_found', 'second_factor_required', 'single_sign_on_required'],
  handle: async (call) => {
    const { body, unit, request, services } = call;
    const { claims } = request.core;
    if (unit.context.caller.kind !== 'user' || !claims)
      throw new AppError('permission_denied', 'Only users can switch between organizations.');
    const { userId, sessionId } = claims;
    const wanted = body.target_organization_id;
    if (!isId(wanted))
      throw inputError([
        {
          path: '/target_organization_id',
          message: `${notAnId(wanted, [])}; GET /v1/organizations lists your organizations with their ids`,
        },
      ]);
    const data = unit.data.privileged('switch organization');
    // Before the session, as by all who change sessions of a person.
    await data.findLocked(user, userId);
    // The session may end at this moment.
    const held = await data.findLocked(session, sessionId);
    if (!held) throw signInFirst();
    const entry = await readEntry(unit, userId, wanted, held.singleSignOnId);
    const { role, requiredSignOn, isElsewhere, lacksSecondFactor, heldModules } = entry;
    if (requiredSignOn !== null) throw singleSignOnRequired(services, requiredSignOn);
    if (role === null || isElsewhere) throw missingRecord(organization, wanted);
    if (lacksSecondFactor) throw secondFactorRequired();
    const switched = await data.update(session, sessionId, {
      activeOrganizationId: wanted,
      address: clientAddress(request, services),
      lastSeenAt: services.clock.now(),
    });
    await noteSeen(unit, userId, wanted);
    if (held.activeOrganizationId !== wanted) unit.emit(customEvent(session, 'switched', switched, { userId }, held));
    const next = { userId, sessionId, home: { organizationId: wanted, heldModules } };
    return accessAnswer(call, await issueAccess(call, next, held.expiresAt));
  },
});
