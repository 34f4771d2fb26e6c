import { usualLocale } from '#entities/kit/base/localized.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { collectionContent, type Collection } from '../mails/collection-content.ts';
import { noticeContent, saidOf, type Notice } from '../mails/notice-content.ts';
import { sample } from '../mails/define-mail.ts';
import { notificationKinds } from '../mails/index.ts';
import { taskAssigned } from '../mails/work/task-assigned.mail.ts';

const { organization: name, unsubscribeToken } = sample;
const url = 'https://console.example.com/tasks/01JEXAMPLE0000000000000000';

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
