import { notificationKinds } from '#activities/mails/index.ts';
import { fillTemplate, noticeContent } from '#activities/mails/notice-content.ts';
import type { EmailThemeName } from '#activities/clients/email/content.ts';
import { inWords } from '#entities/kit/base/snake-case.ts';
import { emailBrand } from '#activities/clients/email/email-brand.ts';
import { renderEmail } from '#activities/clients/email/render.ts';
import type { Config } from '#config/objects/root.ts';

interface PreviewInput {
  readonly topic: string;
  readonly subjectTemplate: string;
  readonly bodyTemplate: string;
  /** How mails show the name of the organization. */
  readonly name: string;
  readonly theme: EmailThemeName;
}

interface PreviewSettings {
  readonly config: Config;
  readonly at: Date;
}

/** An e-mail about an event as a template makes it, with values as they could be. Its links lead nowhere. */
export function previewNotification(
  { topic, theme, name, ...template }: PreviewInput,
  { config, at }: PreviewSettings,
): { readonly subject: string; readonly text: string; readonly html: string } {
  const kind = notificationKinds.find((each) => each.topic === topic);
  const said = fillTemplate(template, kind?.sample ?? {});
  const page = kind?.link({ module: kind.about, id: '01JEXAMPLE0000000000000000' }) ?? '/';
  const url = `https://console.example.com${page}`;
  const content = noticeContent({
    ...said,
    name,
    record: inWords(kind?.about.kind ?? 'record'),
    url,
    topic,
    unsubscribeToken: 'example',
  });
  const options = { id: 'preview', to: 'you@example.com', name: 'Jo Example', theme, brand: emailBrand(config, at) };
  const { subject, text, html } = renderEmail(content, options);
  return { subject, text, html };
}
