import { localNumber, usualLocale, type Locale } from '#entities/kit/base/localized.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import type { EmailContent, EmailItem } from '../clients/email/content.ts';
import { noticeContent, saidOf, type Notice } from '../mails/notice-content.ts';
import { sample } from '../mails/define-mail.ts';
import { notificationKinds } from '../mails/index.ts';
import { taskAssigned } from '../mails/work/task-assigned.mail.ts';

const { organization: name, unsubscribeToken } = sample;
const url = 'https://console.example.com/tasks/01JEXAMPLE0000000000000000';

export interface Collection {
  readonly name: string;
  /** Topics of the mail, each once. */
  readonly topics: readonly string[];
  readonly count: number;
  /** Whether there are more than these. */
  readonly hasMore: boolean;
  readonly items: readonly EmailItem[];
  readonly locale: Locale;
  /** The list in the application, or its address in the API. */
  readonly url: string;
  readonly unsubscribeToken: string;
}

export const sampleNotice: Notice = {
  name,
  record: 'task',
  url,
  topic: 'task.assigned',
  unsubscribeToken,
  ...saidOf(taskAssigned.text, taskAssigned.sample),
};

const sampleItems = [
  { text: 'Ann Example assigned a task to you. TSK-7: Review the access rights. Due June 1, 2026 at 5:00 PM UTC', url },
  { text: 'Ann Example assigned a task to you. TSK-8: Renew the certificate', url },
];

export const sampleCollection: Collection = {
  name,
  topics: ['task.assigned'],
  count: 12,
  hasMore: false,
  items: sampleItems,
  locale: usualLocale,
  url,
  unsubscribeToken,
};

/** Mails with notifications in other cases: what each event says, and several events of different topics. */
export const notificationPreviews: Readonly<Record<string, EmailContent>> = {
  ...Object.fromEntries(
    notificationKinds.map(({ topic, text, sample: values, about }) => [
      `notification-${topic.replaceAll(/[._]/g, '-')}`,
      noticeContent({ ...sampleNotice, ...saidOf(text, values), record: inWords(about.kind), topic }),
    ]),
  ),
  'digest-several-topics': collectionContent({
    ...sampleCollection,
    topics: ['task.assigned', 'note.mentioned'],
    count: 200,
    hasMore: true,
  }),
};

export function collectionContent({
  name: of,
  topics,
  count,
  hasMore,
  items,
  locale,
  url: all,
  unsubscribeToken: token,
}: Collection): EmailContent {
  const number = `${hasMore ? 'More than ' : ''}${localNumber(count, locale)}`;
  const [only, ...others] = topics;
  const kind = others.length === 0 ? notificationKinds.find(({ topic }) => topic === only) : undefined;
  const said = kind && saidOf({ title: kind.text.many, body: [] }, { count: number }).title;
  return {
    subject: said ?? `${number} notifications`,
    paragraphs: [`Organization: ${of}`, ...(hasMore || items.length < count ? ['The newest are:'] : [])],
    items,
    action: { text: 'Open all', url: all },
    topics,
    unsubscribeToken: token,
  };
}
