import type { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationTemplate } from '#entities/notifications/notification-template.ts';
import { dropDigest } from '../listeners/notifications/settle-digest.ts';
import { dropSending } from '../listeners/notifications/settle-sending.ts';
import { digestMessage, singleMessage } from '../listeners/notifications/told-messages.ts';
import { collectionContent, type Collection } from '../mails/collection-content.ts';
import { defineMail } from '../mails/define-mail.ts';
import { fillTemplate, noticeContent, type Notice } from '../mails/notice-content.ts';
import { sampleCollection, sampleNotice } from './notification-contents.ts';

/** Notifies one person of one event, unless they read it meanwhile, lost the right to it, or have postponed or muted it. */
export const notificationMail = defineMail('notification', {
  values: async ({ input: { about }, unit, links, unsubscribeToken }) => {
    const message = about && (await singleMessage(unit, 'email', about, { links, unsubscribeToken }));
    return message && { ...message.content, ...(await ownText(message.told, unit)) };
  },
  text: noticeContent,
  onUnsent: (about, unit) => dropSending(unit, 'email', about),
  sample: sampleNotice,
});

/** Notifies one person of several events. */
export const digestMail = defineMail('digest', {
  values: async ({ input: { about }, unit, links, unsubscribeToken }): Promise<Notice | Collection | undefined> =>
    about && (await digestMessage(unit, about, { links, unsubscribeToken }))?.content,
  text: (values) => ('items' in values ? collectionContent(values) : noticeContent(values)),
  sample: sampleCollection,
  onUnsent: (about, unit) => dropDigest(unit, about),
});

/** Text of the organization for such a mail; undefined without a template, and for notifications from before there were any. */
async function ownText(
  { organizationId, topic, variables }: RowOf<typeof notification>,
  { data }: UnitOfWork,
): Promise<Pick<Notice, 'title' | 'lines'> | undefined> {
  const where = { organizationId: { eq: organizationId }, channel: { eq: 'email' }, topic: { eq: topic } } as const;
  const template = variables === null ? undefined : await data.findOne(notificationTemplate, where);
  // The listener of the notification wrote a text for each variable.
  return template && fillTemplate(template, variables as Readonly<Record<string, string>>);
}
