import { user } from '#entities/identity/user.ts';
import { invite, openStatuses } from '#entities/organizations/invite.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { organizationContents } from './organization-contents.ts';
import { localeOf, organizationName, recipientOf, unsubscribeTokenOf, type Links, type Mail } from './mail.ts';

/** The mail of an invitation; undefined when its link would not work any more. */
export async function inviteMail(input: SendEmailInput, unit: UnitOfWork, links: Links): Promise<Mail | undefined> {
  const { about } = input;
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
    content: organizationContents.invite.content({
      inviter: inviter?.email,
      name,
      role: held.role,
      until: localInstant(held.expiresAt, await localeOf(input, unit)),
      url: `${apiUrl}/v1/invite#token=${oneTimeToken(tokenKey, 'invite', held.id, held.round)}`,
      unsubscribeToken: unsubscribeTokenOf(links),
    }),
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
  if (!inviter || !held || name === undefined) return undefined;
  return {
    to: inviter.email,
    name: inviter.displayName,
    content: organizationContents['invite-accepted'].content({
      recipient: held.recipient,
      name,
      role: held.role,
      unsubscribeToken: unsubscribeTokenOf(links),
    }),
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
