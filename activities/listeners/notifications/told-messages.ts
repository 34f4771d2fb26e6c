import type { notification } from '#entities/notifications/notification.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { EmailItem } from '../../clients/email/content.ts';
import { inertLine } from '../../clients/email/inert-text.ts';
import type { SentChannelName } from '../../mails/channels.ts';
import type { Collection } from '../../mails/collection-content.ts';
import type { Links } from '../../mails/define-mail.ts';
import type { Notice } from '../../mails/notice-content.ts';
import { organizationName } from '../../mails/shown-name.ts';
import type { Recipient } from './recipient.ts';
import { settleDigest } from './settle-digest.ts';
import { settleSending } from './settle-sending.ts';

type Notification = RowOf<typeof notification>;

/** A notification or a digest with its round. */
interface About {
  readonly id: string;
  readonly round: number;
}

interface Pages {
  readonly links: Pick<Links, 'apiUrl' | 'consoleUrl'>;
  /** Empty on channels whose messages cannot be ended by a link. */
  readonly unsubscribeToken: string;
}

const maxListed = 50;

/** Content of a message about one notification, at each attempt to send it; undefined for one that is not sent. */
export async function singleMessage(
  unit: UnitOfWork,
  channel: SentChannelName,
  about: About,
  pages: Pages,
): Promise<
  { readonly person: Recipient['person']; readonly told: Notification; readonly content: Notice } | undefined
> {
  const current = await settleSending(unit, channel, about);
  const name = current && (await organizationName(current.told, unit, 'your organization'));
  if (!current || name === undefined) return undefined;
  const { person, told } = current;
  return { person, told, content: noticeOf(told, name, pages, unit) };
}

/** Content of the message of a digest, at each attempt to send it; undefined for one that is not sent. */
export async function digestMessage(
  unit: UnitOfWork,
  about: About,
  pages: Pages,
): Promise<{ readonly person: Recipient['person']; readonly content: Notice | Collection } | undefined> {
  const current = await settleDigest(unit, about);
  const name = current && (await organizationName(current, unit, 'your organization'));
  if (!current || name === undefined) return undefined;
  const { person, locale, notifications, hasMore } = current;
  const [first, ...others] = notifications;
  if (first && others.length === 0 && !hasMore) return { person, content: noticeOf(first, name, pages, unit) };
  const { links, unsubscribeToken } = pages;
  const content = {
    name,
    topics: [...new Set(notifications.map(({ topic }) => topic))],
    count: notifications.length,
    hasMore,
    items: notifications.slice(0, maxListed).map((told) => itemOf(told, pages, unit)),
    locale,
    url: links.consoleUrl === '' ? `${links.apiUrl}/v1/notifications/inbox` : `${links.consoleUrl}/notifications`,
    unsubscribeToken,
  };
  return { person, content };
}

/** @param name of the organization */
function noticeOf(told: Notification, name: string, { links, unsubscribeToken }: Pages, unit: UnitOfWork): Notice {
  return {
    name,
    ...saidIn(told),
    record: inWords(told.targetKind ?? 'notification'),
    url: pageOf(told, links, unit),
    topic: told.topic,
    unsubscribeToken,
  };
}

function saidIn({ title, body }: Notification): Pick<Notice, 'title' | 'lines'> {
  return { title: inertLine(title), lines: (body ?? '').split('\n').map(inertLine) };
}

function itemOf(told: Notification, { links }: Pages, unit: UnitOfWork): EmailItem {
  const { title, lines } = saidIn(told);
  const text = [title, ...lines]
    .filter((part) => part !== '')
    .map((part) => (/[.!?…]$/.test(part) ? part : `${part}.`));
  return { text: text.join(' '), url: pageOf(told, links, unit) };
}

/** The page of a record in the application; without one, its address in the API. */
function pageOf(
  { id, targetKind, targetId, link }: Notification,
  { consoleUrl, apiUrl }: Pages['links'],
  { registry }: UnitOfWork,
): string {
  if (consoleUrl !== '') return `${consoleUrl}${link}`;
  const about = registry.modules.find(({ topic }) => topic === targetKind);
  const path = about && targetId !== null ? `${about.table.replaceAll('_', '-')}/${targetId}` : `notifications/${id}`;
  return `${apiUrl}/v1/${path}`;
}
