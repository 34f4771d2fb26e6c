import { fillText } from '#entities/kit/base/fill-text.ts';
import type { EmailContent } from '../../clients/email/content.ts';
import { inertLine } from '../../clients/email/inert-text.ts';

/** What an e-mail says about one event. */
export interface Notice {
  /** Of the organization. */
  readonly name: string;
  readonly title: string;
  /** Paragraphs. */
  readonly lines: readonly string[];
  /** Page of the record; absent while no base of links is configured. */
  readonly url: string | undefined;
  readonly unsubscribeToken: string;
}

/** The e-mail of one notification. */
export function noticeContent({ title, lines, name, url, unsubscribeToken }: Notice): EmailContent {
  return {
    subject: title,
    paragraphs: [...lines, `In ${name}.`].filter((line) => line !== ''),
    ...(url === undefined ? {} : { action: { text: 'Open', url } }),
    unsubscribeToken,
  };
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
