import { on } from '#entities/kit/model/events.ts';
import { invite } from '#entities/organizations/invite.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

export const inviteAcceptedMail = defineMail('invite-accepted', {
  follows: [on(invite, 'accepted')],
  audience: async ({ event, unit }) => {
    const held = await unit.data.findOne(invite, { id: { eq: event.entityId } });
    if (held?.inviterId == null) return [];
    const { id, round, organizationId, inviterId: userId } = held;
    return [{ organizationId, userId, about: { id, round } }];
  },
  priority: 3,
  about: invite,
  values: async ({ record: { recipient, role, organizationId }, unit }) => {
    const name = await organizationName({ organizationId }, unit);
    return name === undefined ? undefined : { recipient, name, role };
  },
  text: ({ recipient, name, role }) => ({
    subject: 'Your invitation was accepted',
    paragraphs: [`${recipient} has joined ${name} with the role ${role}.`],
    action: { text: 'Open the organization', path: '/' },
  }),
  sample: { recipient: sample.person, name: sample.organization, role: 'member' },
  unsubscribesFrom: 'invitations that were accepted',
});
