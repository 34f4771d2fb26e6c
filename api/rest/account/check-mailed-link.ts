import { Type } from 'typebox';
import { emailChange } from '#entities/identity/email-change.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import { subscriber, unsubscribeRound } from '#entities/organizations/subscriber.ts';
import { claimedId, invalidToken } from '#entities/kit/base/one-time-token.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { defineRoute } from '../../http/route.ts';
import { checkLink } from './mailed-link.ts';

/** What a mailed link stands for. */
interface LinkState {
  readonly round: number;
  /** The address that it is about; null where the answer does not name it. */
  readonly email: string | null;
  readonly isUsed: boolean;
  /** Null for links that do not expire. */
  readonly expiresAt: Date | null;
}

type Reader = (data: DataClient, id: string) => Promise<LinkState | undefined>;

/** By the purpose of the link; invitations are shown by POST /v1/invite. */
const readers = {
  'email-verification': async (data, id) => {
    const found = await data.findOne(emailVerification, { id: { eq: id } });
    return found && { ...found, isUsed: found.usedAt !== null || found.passwordHash === null };
  },
  'password-reset': async (data, id) => {
    const found = await data.findOne(passwordReset, { id: { eq: id } });
    return found && { ...found, round: 1, isUsed: found.usedAt !== null || found.sentAt === null };
  },
  'email-change': async (data, id) => {
    const found = await data.findOne(emailChange, { id: { eq: id } });
    if (!found) return undefined;
    const isUsed = found.usedAt !== null || found.sentAt === null || found.newEmail === null;
    return { ...found, round: 1, email: found.newEmail, isUsed };
  },
  reactivation: async (data, id) => {
    const found = await data.findOne(user, { id: { eq: id } });
    if (!found) return undefined;
    const { recordVersion: round, email, status } = found;
    return { round, email, isUsed: status !== 'deactivated', expiresAt: reactivationEnd(found) };
  },
  'subscriber-verification': async (data, id) => {
    const found = await data.findOne(subscriber, { id: { eq: id } });
    return found && { ...found, isUsed: found.isEmailVerified || found.isUnsubscribed };
  },
  unsubscribe: async () => ({ round: unsubscribeRound, email: null, isUsed: false, expiresAt: null }),
} as const satisfies Readonly<Record<string, Reader>>;

type Purpose = keyof typeof readers;

/** A POST, so that the token is in no URL and no log of a proxy. It changes nothing, so it may be sent as often as a page is opened. */
export const checkMailedLink = defineRoute({
  method: 'POST',
  url: '/v1/mailed-links/check',
  operationId: 'checkMailedLink',
  tag: 'Account',
  summary: 'Check the link of an e-mail',
  description:
    'Says whether a link can still be used, for whoever has its token. It does not use the link up, and changes nothing. POST /v1/invite does the same for invitations.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object(
    {
      purpose: Type.Enum(Object.keys(readers) as Purpose[], { description: 'What the link is for.' }),
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object(
      {
        status: Type.Enum(['usable', 'used', 'expired'], {
          description: 'Whether the link can be used. A link is used, too, when another one has taken its place.',
        }),
        email: Type.Union([Type.String(), Type.Null()], {
          description: 'The address that the link is about; null for links that name none.',
        }),
        expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
          description: 'When the link expires; null for links that do not expire.',
        }),
      },
      { title: 'MailedLink' },
    ),
  },
  errors: ['invalid_input', 'invalid_token'],
  handle: async ({ body: { purpose, token }, unit, services }) => {
    const id = claimedId(purpose, token);
    const state = await readers[purpose](unit.data.privileged('check mailed link'), id);
    // Compared for unknown ids, too.
    checkLink(services, purpose, id, state?.round ?? 1, token);
    if (!state) throw invalidToken(purpose);
    const { isUsed, email, expiresAt } = state;
    const isExpired = expiresAt !== null && expiresAt <= services.clock.now();
    const status = isUsed ? 'used' : isExpired ? 'expired' : 'usable';
    return { status: 200, body: { status, email, expires_at: expiresAt?.toISOString() ?? null } };
  },
});
