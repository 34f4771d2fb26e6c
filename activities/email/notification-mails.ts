import type { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationTemplate } from '#entities/notifications/notification-template.ts';
import { dropDigest, settleDigest } from '../listeners/notifications/settle-digest.ts';
import { dropSending, settleSending } from '../listeners/notifications/settle-sending.ts';
import type { EmailItem } from '../clients/email/content.ts';
import { inertLine } from '../clients/email/inert-text.ts';
import { defineMail, type Links, type MailContext } from '../mails/define-mail.ts';
import { notificationKinds } from '../mails/index.ts';
import { fillTemplate, noticeContent, type Notice } from '../mails/notice-content.ts';
import { organizationName } from '../mails/shown-name.ts';
import { collectionContent, sampleCollection, sampleNotice, type Collection } from './notification-contents.ts';

type Notification = RowOf<typeof notification>;

const maxListed = 50;

/** Notifies one person of one event, unless they read it meanwhile, lost the right to it, or have postponed or muted it. */
export const notificationMail = defineMail('notification', {
  values: async ({ input: { about }, unit, links, unsubscribeToken }) => {
    const current = about && (await settleSending(unit, 'email', about));
    const name = current && (await organizationName(current.told, unit, 'your organization'));
    if (!current || name === undefined) return undefined;
    const { told } = current;
    return { ...noticeOf(told, name, { links, unsubscribeToken }), ...(await ownText(told, unit)) };
  },
  text: noticeContent,
  onUnsent: (about, unit) => dropSending(unit, 'email', about),
  sample: sampleNotice,
});

/** Notifies one person of several events. */
export const digestMail = defineMail('digest', {
  values: async ({ input: { about }, unit, links, unsubscribeToken }): Promise<Notice | Collection | undefined> => {
    const current = about && (await settleDigest(unit, about));
    const name = current && (await organizationName(current, unit, 'your organization'));
    if (!current || name === undefined) return undefined;
    const { locale, notifications, hasMore } = current;
    const [first, ...others] = notifications;
    if (first && others.length === 0 && !hasMore) return noticeOf(first, name, { links, unsubscribeToken });
    return {
      name,
      topics: [...new Set(notifications.map(({ topic }) => topic))],
      count: notifications.length,
      hasMore,
      items: notifications.slice(0, maxListed).map((told) => itemOf(told, links)),
      locale,
      url: links.consoleUrl === '' ? `${links.apiUrl}/v1/notifications/inbox` : `${links.consoleUrl}/notifications`,
      unsubscribeToken,
    };
  },
  text: (values) => ('items' in values ? collectionContent(values) : noticeContent(values)),
  sample: sampleCollection,
  onUnsent: (about, unit) => dropDigest(unit, about),
});

/** @param name of the organization */
function noticeOf(
  told: Notification,
  name: string,
  { links, unsubscribeToken }: Pick<MailContext<unknown>, 'links' | 'unsubscribeToken'>,
): Notice {
  return {
    name,
    ...saidIn(told),
    record: inWords(told.targetKind ?? 'notification'),
    url: pageOf(told, links),
    topic: told.topic,
    unsubscribeToken,
  };
}

function saidIn({ title, body }: Notification): Pick<Notice, 'title' | 'lines'> {
  return { title: inertLine(title), lines: (body ?? '').split('\n').map(inertLine) };
}

/** Text of the organization for such a mail; undefined without a template, and for notifications from before there were any. */
async function ownText({ organizationId, topic, variables }: Notification, { data }: UnitOfWork) {
  const where = { organizationId: { eq: organizationId }, channel: { eq: 'email' }, topic: { eq: topic } } as const;
  const template = variables === null ? undefined : await data.findOne(notificationTemplate, where);
  // The listener of the notification wrote a text for each variable.
  return template && fillTemplate(template, variables as Readonly<Record<string, string>>);
}

function itemOf(told: Notification, links: Links): EmailItem {
  const { title, lines } = saidIn(told);
  const text = [title, ...lines]
    .filter((part) => part !== '')
    .map((part) => (/[.!?…]$/.test(part) ? part : `${part}.`));
  return { text: text.join(' '), url: pageOf(told, links) };
}

/** The page of a record in the application; without one, its address in the API. */
function pageOf({ id, topic, targetId, link }: Notification, { consoleUrl, apiUrl }: Links): string {
  if (consoleUrl !== '') return `${consoleUrl}${link}`;
  const about = notificationKinds.find((kind) => kind.topic === topic)?.about;
  const path = about && targetId !== null ? `${about.table.replaceAll('_', '-')}/${targetId}` : `notifications/${id}`;
  return `${apiUrl}/v1/${path}`;
}
