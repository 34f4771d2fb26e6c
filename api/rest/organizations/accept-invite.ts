import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { roles } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { defineRoute } from '../../http/route.ts';
import { joinOrganization } from './join-organization.ts';
import { InviteTokenSchema, usableInvite } from './usable-invite.ts';

/** For people with an account; others register with the token (register-invited.ts). */
export const acceptInvite = defineRoute({
  method: 'POST',
  url: '/v1/invite/accept',
  operationId: 'acceptInvite',
  tag: 'Account',
  summary: 'Accept an invitation',
  description:
    'Makes the signed-in user a member of the organization, with the role of the invitation. The confirmed e-mail address of the user must be the one that is invited. Continue with /v1/switch. Users without an account send the token to /v1/register instead.',
  access: 'required',
  limitClass: 'flow',
  body: Type.Object({ token: InviteTokenSchema }, { additionalProperties: false }),
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'Result, as text for people.' }),
      organization_id: Type.String({ description: 'Id of the organization.' }),
      role: Type.Enum([...roles], { description: 'Role of the user there.' }),
    }),
  },
  errors: ['invalid_input', 'invalid_token', 'token_expired', 'permission_denied', 'already_exists'],
  handle: async (call) => {
    const { unit, body, request } = call;
    const { claims } = request.core;
    if (unit.context.caller.kind !== 'user' || !claims)
      throw new AppError('permission_denied', 'Only users can accept invitations.');
    const data = unit.data.privileged('accept invitation');
    const person = await data.findLocked(user, claims.userId);
    if (person?.status !== 'active') throw signInFirst();
    const usable = await usableInvite(call, data, body.token);
    if (!person.emailConfirmedAt || person.email !== usable.invite.recipient)
      throw new AppError(
        'permission_denied',
        'This invitation was sent to another address. Sign in with the address that it was sent to.',
      );
    await joinOrganization(unit, data, usable, person);
    const { invite, organization } = usable;
    return {
      status: 200,
      body: {
        message: `You have joined ${organization.name}.`,
        organization_id: organization.id,
        role: invite.role,
      },
    };
  },
});
