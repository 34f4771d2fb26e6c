import { on } from '#entities/kit/model/events.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { defineMail } from '../define-mail.ts';
import { addressForInvoices, delayOf, noticeOf, noticeSample, noticeText } from './deletion-notice.ts';

/** The same notice to the address for invoices. */
export const deletionNoticeForInvoicesMail = defineMail('deletion-notice-for-invoices', {
  follows: [on(organization, 'marked_for_deletion'), on(organization, 'deletion_nearing')],
  audience: addressForInvoices,
  delayMs: delayOf,
  priority: 3,
  about: organizationSetting,
  to: ({ billingEmail }) => billingEmail,
  values: (context) => noticeOf(context, context.record.organizationId),
  text: noticeText,
  sample: noticeSample,
});
