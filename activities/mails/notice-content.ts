import { fillText } from '#entities/kit/base/fill-text.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { inertLine } from '../clients/email/inert-text.ts';
import type { NotificationText } from './define-notification.ts';

export interface Notice {
  /** Of the organization. */
  readonly name: string;
  readonly title: string;
  /** Paragraphs. */
  readonly lines: readonly string[];
  /** Page that the button opens: a kind of record, in words. */
  readonly record: string;
  /** Page of the record, or its address in the API. */
  readonly url: string;
  readonly topic: string;
  readonly unsubscribeToken: string;
}

export function noticeContent({ title, lines, name, record, url, topic, unsubscribeToken }: Notice): EmailContent {
  return {
    subject: title,
    paragraphs: [...lines, `Organization: ${name}`].filter((line) => line !== ''),
    action: { text: `Open the ${record}`, url },
    topics: [topic],
    unsubscribeToken,
  };
}

/** Text of the product about an event. */
export function saidOf(
  { title, body }: Pick<NotificationText, 'title' | 'body'>,
  values: Readonly<Record<string, string>>,
): Pick<Notice, 'title' | 'lines'> {
  const isComplete = (line: string) =>
    [...line.matchAll(/\{\{(\w+)\}\}/g)].every(([, name = '']) => values[name] !== '');
  const lines = body.filter(isComplete).map((line) => fillText(line, values));
  return { title: fillText(title, values), lines };
}

/**
 * The texts of an organization with values in place of their variables. The mail comes from the operator's address, so texts and values
 * are as inert as what the product makes of names: no line break in a line, and nothing of which a program makes a link.
 */
export function fillTemplate(
  { subjectTemplate, bodyTemplate }: { readonly subjectTemplate: string; readonly bodyTemplate: string },
  values: Readonly<Record<string, string>>,
): Pick<Notice, 'title' | 'lines'> {
  const filled = (line: string) => inertLine(fillText(line, values));
  // Before values are filled in: they make no lines.
  return { title: filled(subjectTemplate), lines: bodyTemplate.split(/\r\n|[\r\n]/).map(filled) };
}
