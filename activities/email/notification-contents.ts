import type { EmailItem } from '../clients/email/content.ts';
import { noticeContent, type Notice } from '../listeners/notifications/notice-content.ts';
import { defineMail, sample } from './mail-definition.ts';

const { organization: name, unsubscribeToken } = sample;
const url = 'https://console.example.com/tasks/01JEXAMPLE0000000000000000';

interface Collection {
  readonly name: string;
  readonly items: readonly EmailItem[];
  /** Whether there are more than these. */
  readonly hasMore: boolean;
  /** The list in the application. */
  readonly url: string | undefined;
  readonly unsubscribeToken: string;
}

const sampleItems = [
  { text: 'A task was assigned to you: TSK-7: Review the access rights', url },
  { text: 'An export is ready: 120 records of the kind task (csv)', url },
];

/** Mails with what people are told of (activities/listeners/notifications). */
export const notificationContents = {
  notification: defineMail<Notice>(
    {
      name,
      title: 'A task was assigned to you',
      lines: ['TSK-7: Review the access rights'],
      url,
      unsubscribeToken,
    },
    noticeContent,
  ),
  digest: defineMail<Collection>({ name, items: sampleItems, hasMore: true, url, unsubscribeToken }, (values) => ({
    subject: `What is new in ${values.name}`,
    paragraphs: [values.hasMore ? 'The newest of what you were told:' : 'You were told:'],
    items: values.items,
    ...(values.url === undefined ? {} : { action: { text: 'Open all', url: values.url } }),
    unsubscribeToken: values.unsubscribeToken,
  })),
} as const;
