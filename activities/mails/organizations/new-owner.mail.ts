import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { membership } from '#entities/organizations/membership.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { organizationName } from '../shown-name.ts';

export const newOwnerMail = defineMail('new-owner', {
  follows: [on(membership, 'updated')],
  condition: async ({ event, unit }) => {
    if (!event.payload.changed.includes('role')) return false;
    return (await unit.data.findOne(membership, { id: { eq: event.entityId } }))?.role === 'owner';
  },
  audience: peopleInCharge,
  about: membership,
  values: async ({ record, unit }) => {
    if (record.role !== 'owner') return undefined;
    const owner = await unit.data.findOne(user, { id: { eq: record.userId } });
    const name = await organizationName(record, unit);
    return owner && name !== undefined ? { owner: owner.email, name } : undefined;
  },
  text: ({ owner, name }) => ({
    subject: 'An organization has a new owner',
    paragraphs: [
      `${owner} is now an owner of ${name}, with all rights there.`,
      'If you did not expect this, contact the other owners or our support immediately.',
    ],
  }),
  sample: { owner: sample.person, name: sample.organization },
});
