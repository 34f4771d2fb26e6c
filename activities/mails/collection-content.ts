import { localNumber, type Locale } from '#entities/kit/base/localized.ts';
import type { EmailContent, EmailItem } from '../clients/email/content.ts';
import { notificationKinds } from './index.ts';
import { saidOf } from './notice-content.ts';

/** Several notifications of one message. */
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
