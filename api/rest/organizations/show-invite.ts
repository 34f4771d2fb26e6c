import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { roles } from '#entities/kit/model/caller.ts';
import { defineRoute } from '../../http/route.ts';
import { InviteTokenSchema, usableInvite } from './usable-invite.ts';

/** A POST, so that the token is in no URL and no log of a proxy. */
export const showInvite = defineRoute({
  method: 'POST',
  url: '/v1/invite',
  operationId: 'showInvite',
  tag: 'Account',
  summary: 'Show an invitation',
  description:
    'Inviter, organization and address of an invite, for the holder of the token of the e-mailed link. It changes nothing.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object({ token: InviteTokenSchema }, { additionalProperties: false }),
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'The invitation, as text for people.' }),
      organization: Type.String({ description: 'Name of the organization.' }),
      role: Type.Enum([...roles], { description: 'Role that the invited person gets.' }),
      email: Type.String({ description: 'Address that is invited.' }),
      invited_by: Type.Union([Type.String(), Type.Null()], {
        description: 'E-mail address of the person who invites; null if no person invites.',
      }),
      has_account: Type.Boolean({
        description:
          'Whether the address has an account, which accepts with POST /v1/invite/accept. Without one: POST /v1/register.',
      }),
      expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the invitation expires.',
      }),
    }),
  },
  errors: ['invalid_input', 'invalid_token', 'token_expired'],
  handle: async (call) => {
    const data = call.unit.data.privileged('show invitation');
    const { invite, organization, inviter } = await usableInvite(call, data, call.body.token);
    const person = await data.findOne(user, { email: { eq: invite.recipient } });
    const who = inviter?.email ?? 'The organization';
    return {
      status: 200,
      body: {
        message: `${who} invites ${invite.recipient} to join ${organization.name} with the role ${invite.role}.`,
        organization: organization.name,
        role: invite.role,
        email: invite.recipient,
        invited_by: inviter?.email ?? null,
        has_account: (person?.emailConfirmedAt ?? null) !== null,
        expires_at: invite.expiresAt?.toISOString() ?? null,
      },
    };
  },
});
