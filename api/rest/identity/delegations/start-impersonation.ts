import { Type } from 'typebox';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { decidingMembership } from '#entities/kit/access/single-sign-on.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { idPattern } from '#entities/kit/base/ids.ts';
import { requireRecentProof } from '../../../credentials/recent-proof.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { defineRoute } from '../../../http/route.ts';
import { beginDelegation, DelegationSchema, maxMinutes, ReasonField } from './begin-delegation.ts';

export const startImpersonation = defineRoute({
  method: 'POST',
  url: '/v1/impersonation',
  operationId: 'startImpersonation',
  tag: 'Acting as another user',
  summary: 'Act as a member',
  description:
    'Returns a token with which an owner or admin acts as a member with a lower role, in this organization alone. It needs a recent proof (POST /v1/2fa/step-up). The token reaches neither the account of the member nor credentials, roles and settings. Each response carries the header Impersonation; changes name both people; the member is notified by e-mail. It ends with POST /v1/delegation/end, with the session from which it began, and when either of the two loses the rights for it.',
  access: 'required',
  answersCredential: true,
  // It is valid only in the organization, like such a session.
  acceptsSingleSignOn: true,
  body: Type.Object(
    {
      user_id: Type.String({ pattern: idPattern.source, description: 'Id of the member.' }),
      reason: ReasonField,
      duration_minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: maxMinutes, default: maxMinutes, description: 'Duration in minutes.' }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: { 201: DelegationSchema },
  errors: ['permission_denied', 'step_up_required'],
  handle: async (call) => {
    const { body, unit, services } = call;
    const { userId, sessionId } = signedInPerson(call);
    const { organizationId } = unit.context.caller;
    if (organizationId === null) throw new AppError('permission_denied', refusal);
    const data = unit.data.privileged('impersonate');
    const actor = await data.get(user, userId);
    const { expiresAt: sessionEnd } = await data.get(session, sessionId);
    const wantedEnd = services.clock.now().getTime() + (body.duration_minutes ?? maxMinutes) * 60_000;
    const values = {
      type: 'impersonation',
      reason: body.reason,
      actorId: userId,
      actorName: actor.displayName,
      actorEmail: actor.email,
      subjectId: body.user_id,
      actorMembershipId: await decidingMembership(unit, userId, organizationId),
      subjectMembershipId: await decidingMembership(unit, body.user_id, organizationId),
      sessionId,
      organizationId,
      expiresAt: new Date(Math.min(wantedEnd, sessionEnd.getTime())),
    } as const;
    const begun = await beginDelegation(call, values, refusal);
    // After the roles, which say why somebody may not begin it at all.
    await requireRecentProof(call);
    return begun;
  },
});

/** The same for people who do not exist: nobody finds out who has an account. */
const refusal =
  'You can act only as an active member of this organization whose role is below yours, and only as an owner or admin.';
