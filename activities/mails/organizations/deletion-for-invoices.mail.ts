import { on } from '#entities/kit/model/events.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { defineMail } from '../define-mail.ts';
import { isAddressOf } from './deletion-notice.ts';
import { deletedSample, deletedText, nameOfDeleted } from './deleted-text.ts';

/** The same mail to the address for invoices, unless it is that of a person who is notified anyway. */
export const deletionForInvoicesMail = defineMail('deletion-for-invoices', {
  listener: 'mail-organization-deleted',
  follows: [on(organizationRemoval, 'announced')],
  audience: async ({ event, key, unit }) => {
    const removal = await unit.data.findOne(organizationRemoval, { id: { eq: event.entityId } });
    if (!removal?.noticeEmail) return [];
    if (await isAddressOf(unit, event.payload.userIds, removal.noticeEmail)) return [];
    return [{ key: `${key}/invoices`, about: { id: removal.id, round: 1 } }];
  },
  priority: 3,
  about: organizationRemoval,
  to: ({ noticeEmail }) => noticeEmail,
  values: nameOfDeleted,
  text: deletedText,
  sample: deletedSample,
});
