import { Type } from 'typebox';
import { emailChange } from '#entities/identity/email-change.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import { invite } from '#entities/organizations/invite.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';
import { claimedId, invalidToken } from '#entities/kit/base/one-time-token.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { defineRoute } from '../../http/route.ts';
import { roundOfLink } from './mailed-link.ts';

/** What a mailed link stands for. */
interface LinkState {
  readonly round: number;
  /** The address that it is about; null for a change that has lost it. */
  readonly email: string | null;
  /** What it is for has been done, or another link has taken its place. */
  readonly isUsed: boolean;
  /** Null for links that do not expire. */
  readonly expiresAt: Date | null;
}

type Reader = (data: DataClient, id: string) => Promise<LinkState | undefined>;

/** By the purpose of the link. */
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
    if (found?.status !== 'active' && found?.status !== 'deactivated') return undefined;
    const { recordVersion: round, email, status } = found;
    return { round, email, isUsed: status === 'active', expiresAt: reactivationEnd(found) };
  },
  'subscriber-verification': async (data, id) => {
    const found = await data.findOne(subscriber, { id: { eq: id } });
    return found && { ...found, isUsed: found.isEmailVerified || found.isUnsubscribed };
  },
  invite: async (data, id) => {
    const found = await data.findOne(invite, { id: { eq: id } });
    if (!found || found.status === 'withdrawn') return undefined;
    return { ...found, email: found.recipient, isUsed: found.status === 'accepted' || found.status === 'declined' };
  },
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
    'Says whether a link can still be used, for whoever has its token. It does not use the link up, and changes nothing. POST /v1/invite shows what an invitation is about, and also refuses one whose sender may not invite any more.',
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
    const state = await readers[purpose](unit.data.privileged('check mailed link'), id);
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
