import { Type } from 'typebox';
import { claimedId, invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { defineRoute } from '../../../http/route.ts';
import { linkKinds } from './link-kinds.ts';
import { roundOfLink } from './mailed-link.ts';

/** A POST, so that the token is in no URL and no log of a proxy. It changes nothing, so it may be sent as often as a page is opened. */
export const checkMailedLink = defineRoute({
  method: 'POST',
  url: '/v1/mailed-links/check',
  operationId: 'checkMailedLink',
  tag: 'Account',
  summary: 'Check the link of an e-mail',
  description:
    'Returns whether a link can still be used, for the holder of its token. It does not use the link up, and changes nothing. POST /v1/invite shows what an invitation is about, and also refuses one whose sender may not invite any more.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object(
    {
      purpose: Type.Enum(Object.keys(linkKinds) as (keyof typeof linkKinds)[], {
        description: 'Purpose of the link.',
      }),
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object(
      {
        status: Type.Enum(['usable', 'used', 'replaced', 'expired'], {
          description:
            'Whether the link can be used. `used`: it was used, or a later change has made it void. `replaced`: a later e-mail has a link that works instead.',
        }),
        email: Type.Union([Type.String(), Type.Null()], {
          description: 'The address that the link is about; null for the link of an earlier e-mail.',
        }),
        expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
          description:
            'When the link expires; null for links that do not expire, and for the link of an earlier e-mail.',
        }),
      },
      { title: 'MailedLink' },
    ),
  },
  errors: ['invalid_input', 'invalid_token'],
  handle: async ({ body: { purpose, token }, unit, services }) => {
    const id = claimedId(purpose, token);
    const state = await linkKinds[purpose].read(unit.data.privileged('check mailed link'), id);
    // Compared for unknown ids, too.
    const round = roundOfLink(services, purpose, id, state?.round ?? 1, token);
    if (!state || !round) throw invalidToken(purpose);
    const { isUsed, email, expiresAt } = state;
    // The address may have changed since: the mailbox of an earlier one does not learn the present one.
    if (round === 'earlier')
      return { status: 200, body: { status: isUsed ? 'used' : 'replaced', email: null, expires_at: null } };
    const isExpired = expiresAt !== null && expiresAt <= services.clock.now();
    const status = isUsed ? 'used' : isExpired ? 'expired' : 'usable';
    return { status: 200, body: { status, email, expires_at: expiresAt?.toISOString() ?? null } };
  },
});
