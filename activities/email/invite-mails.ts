import { user } from '#entities/identity/user.ts';
import { invite, openStatuses } from '#entities/organizations/invite.ts';
import { oneTimeToken } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { organizationName, recipientOf, unsubscribeTokenOf, type Links, type Mail } from './mail.ts';

/** The mail of an invitation; undefined when its link would not work any more. */
export async function inviteMail(
  { about }: SendEmailInput,
  unit: UnitOfWork,
  links: Links,
): Promise<Mail | undefined> {
  const { tokenKey, apiUrl } = links;
  const held = about && (await unit.data.findOne(invite, { id: { eq: about.id } }));
  const isUsable = held && held.round === about.round && openStatuses.includes(held.status);
  if (!isUsable || held.expiresAt === null || held.expiresAt <= unit.clock.now()) return undefined;
  const name = await organizationName(held, unit);
  if (name === undefined) return undefined;
  const inviter = held.inviterId === null ? undefined : await unit.data.findOne(user, { id: { eq: held.inviterId } });
  return {
    to: held.recipient,
    name: undefined,
    content: {
      subject: `Invitation to join ${name}`,
      paragraphs: [
        // Their address is confirmed; their display name could be any text.
        `${inviter?.email ?? 'An organization'} invites you to join ${name} with the role ${held.role}.`,
        `The link works until ${held.expiresAt.toUTCString()}. If you do not know who invites you, do nothing.`,
      ],
      action: {
        text: 'Open the invitation',
        url: `${apiUrl}/v1/invite#token=${oneTimeToken(tokenKey, 'invite', held.id, held.round)}`,
      },
      unsubscribeToken: unsubscribeTokenOf(links),
    },
  };
}

export async function inviteAcceptedMail(
  input: SendEmailInput,
  unit: UnitOfWork,
  links: Links,
): Promise<Mail | undefined> {
  const { about } = input;
  const inviter = await recipientOf(input, unit);
  const held = about && (await unit.data.findOne(invite, { id: { eq: about.id } }));
  const name = held && (await organizationName(held, unit));
  if (!inviter || name === undefined) return undefined;
  return {
    to: inviter.email,
    name: inviter.displayName,
    content: {
      subject: 'Your invitation was accepted',
      paragraphs: [`${held?.recipient} has joined ${name} with the role ${held?.role}.`],
      action: { text: 'Open the organization', path: '/' },
      unsubscribeToken: unsubscribeTokenOf(links),
    },
  };
}

/** Records that the mail of a round was sent, once however often it is attempted. */
export async function recordSentInvite({ about }: SendEmailInput, { data }: UnitOfWork): Promise<void> {
  const held = about && (await data.findLocked(invite, about.id));
  if (!held || held.sentRound >= about.round) return;
  await data.update(invite, held.id, {
    sentRound: about.round,
    sendAttempts: held.sendAttempts + 1,
    ...(held.status === 'pending' && held.round === about.round ? { status: 'sent' } : {}),
  });
}
