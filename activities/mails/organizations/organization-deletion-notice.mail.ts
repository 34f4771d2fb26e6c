import { on } from '#entities/kit/model/events.ts';
import { organization } from '#entities/organizations/organization.ts';
import { aboutRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';
import { delayOf, noticeOf, noticeSample, noticeText } from './deletion-notice.ts';

/** When an organization is marked for deletion, and three days and one day before. */
export const organizationDeletionNoticeMail = defineMail('organization-deletion-notice', {
  follows: [on(organization, 'marked_for_deletion'), on(organization, 'deletion_nearing')],
  audience: (occasion) => occasion.event.payload.userIds.map((userId) => aboutRecord(occasion, userId)),
  delayMs: delayOf,
  priority: 3,
  about: organization,
  values: (context) => noticeOf(context, context.record.id),
  text: noticeText,
  sample: noticeSample,
});
