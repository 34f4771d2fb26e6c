import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { invite, openStatuses } from '#entities/organizations/invite.ts';
import { defineMail, sample } from '../define-mail.ts';
import { isBeyondMailLimit } from '../mail-limit.ts';
import { organizationName } from '../shown-name.ts';

/** The link of an invitation. Anybody with an organization can invite any address, so the mails are limited; others stay pending. */
export const inviteMail = defineMail('invite', {
  follows: [on(invite, 'created'), on(invite, 'resent')],
  audience: async ({ event, unit }) => {
    const held = await unit.data.findOne(invite, { id: { eq: event.entityId } });
    const round = 'round' in event.payload ? event.payload.round : 1;
    // Withdrawn or sent again since.
    if (held?.status !== 'pending' || held.round !== round) return [];
    const { organizationId } = held;
    if (await isBeyondMailLimit(unit, 'invite', { email: held.recipient, organizationId })) return [];
    return [{ organizationId, about: { id: held.id, round } }];
  },
  priority: 3,
  about: invite,
  to: ({ recipient }) => recipient,
  values: async ({ record, input, unit, link, instant }) => {
    const isUsable = record.round === input.about?.round && openStatuses.includes(record.status);
    if (!isUsable || record.expiresAt === null || record.expiresAt <= unit.clock.now()) return undefined;
    const name = await organizationName(record, unit);
    if (name === undefined) return undefined;
    const { inviterId, role, expiresAt } = record;
    const inviter = inviterId === null ? undefined : await unit.data.findOne(user, { id: { eq: inviterId } });
    // Without the inviter for a deleted person.
    return { inviter: inviter?.email, name, role, until: await instant(expiresAt), url: link('/v1/invite', 'invite') };
  },
  text: ({ inviter, name, role, until, url }) => ({
    subject: `Invitation to join ${name}`,
    paragraphs: [
      // Their address is confirmed; their display name could be any text.
      `${inviter ?? 'An organization'} invites you to join ${name} with the role ${role}.`,
      `The link works until ${until}. If you do not know the sender, ignore this e-mail.`,
    ],
    action: { text: 'Open the invitation', url },
  }),
  sample: {
    inviter: sample.person,
    name: sample.organization,
    role: 'admin',
    until: sample.until,
    url: sample.url,
  },
  unsubscribesFrom: 'invitations',
  onSent: async ({ id, round }, { data }) => {
    const held = await data.findLocked(invite, id);
    if (!held || held.sentRound >= round) return;
    await data.update(invite, held.id, {
      sentRound: round,
      sendAttempts: held.sendAttempts + 1,
      ...(held.status === 'pending' && held.round === round ? { status: 'sent' } : {}),
    });
  },
});
