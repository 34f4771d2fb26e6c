import { on } from '#entities/kit/model/events.ts';
import { user } from '#entities/identity/user.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { defineMail } from '../define-mail.ts';
import { deletedSample, deletedText, nameOfDeleted } from './deleted-text.ts';

/** The same mail to the address for invoices, unless it is that of a person who is notified anyway. */
export const deletionForInvoicesMail = defineMail('deletion-for-invoices', {
  listener: 'mail-organization-deleted',
  follows: [on(organizationRemoval, 'announced')],
  audience: async ({ event, key, unit: { data } }) => {
    const removal = await data.findOne(organizationRemoval, { id: { eq: event.entityId } });
    if (!removal?.noticeEmail) return [];
    const { userIds } = event.payload;
    const people = await data.find(user, { where: { id: { in: [...userIds] } }, limit: userIds.length });
    const address = removal.noticeEmail.toLowerCase();
    if (people.some(({ email }) => email.toLowerCase() === address)) return [];
    return [{ key: `${key}/invoices`, about: { id: removal.id, round: 1 } }];
  },
  priority: 3,
  about: organizationRemoval,
  to: ({ noticeEmail }) => noticeEmail,
  values: nameOfDeleted,
  text: deletedText,
  sample: deletedSample,
});
