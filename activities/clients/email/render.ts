import { escapeHtml } from '#entities/kit/base/escape-html.ts';

/** The content of a mail, without its layout. */
export interface EmailContent {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly action?: { readonly text: string; readonly url: string };
  /** Where the recipient ends e-mails of this sort. */
  readonly unsubscribeUrl?: string;
}

/** Company and theme of all mails (configuration `integrations.email`). */
export interface EmailTheme {
  readonly fromEmail: string;
  readonly companyName: string;
  readonly supportEmail: string;
  readonly troubleText: string;
}

export interface RenderedEmail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The same mail as plain text and as HTML. */
export function renderEmail(content: EmailContent, name: string | undefined, theme: EmailTheme): RenderedEmail {
  const greeting = name === undefined ? 'Hello,' : `Hello ${name},`;
  const trouble = content.action ? theme.troubleText.replaceAll('{ACTION}', content.action.text) : undefined;
  const footer = theme.supportEmail ? [`Questions? Write to ${theme.supportEmail}.`] : [];
  const text = [
    greeting,
    ...content.paragraphs,
    ...(content.action ? [`${content.action.text}: ${content.action.url}`] : []),
    ...footer,
    ...(content.unsubscribeUrl ? [`Unsubscribe: ${content.unsubscribeUrl}`] : []),
    ...(theme.companyName ? [theme.companyName] : []),
  ].join('\n\n');
  const paragraph = (line: string) => `<p>${escapeHtml(line)}</p>`;
  const html = [
    '<!doctype html><html lang="en"><body>',
    paragraph(greeting),
    ...content.paragraphs.map(paragraph),
    ...(content.action
      ? [
          `<p><a href="${escapeHtml(content.action.url)}">${escapeHtml(content.action.text)}</a></p>`,
          `<p><small>${escapeHtml(trouble ?? '')}<br>${escapeHtml(content.action.url)}</small></p>`,
        ]
      : []),
    ...footer.map(paragraph),
    ...(content.unsubscribeUrl
      ? [`<p><small><a href="${escapeHtml(content.unsubscribeUrl)}">Unsubscribe</a></small></p>`]
      : []),
    ...(theme.companyName ? [paragraph(theme.companyName)] : []),
    '</body></html>',
  ].join('\n');
  return { subject: content.subject, text, html };
}
