import type { Config } from '#config/objects/root.ts';
import { emailThemes, type EmailContent, type EmailThemeName } from '../clients/email/content.ts';
import { emailBrand } from '../clients/email/email-brand.ts';
import { renderEmail } from '../clients/email/render.ts';
import type { OutgoingEmail } from '../clients/email/transport.ts';
import { accountContents } from './account-contents.ts';
import type { MailDefinition } from './mail-definition.ts';
import { notificationContents, notificationPreviews } from './notification-contents.ts';
import { notices } from './notices.ts';
import { organizationContents } from './organization-contents.ts';

export interface MailPreview {
  readonly template: string;
  readonly theme: EmailThemeName;
  readonly email: OutgoingEmail;
}

/** Every mail of the product with the values of its fixture, in each theme. @param at decides the year of the copyright */
export function previewMails(config: Config, at: Date): MailPreview[] {
  const brand = emailBrand(config, at);
  const defined = Object.entries({
    ...accountContents,
    ...organizationContents,
    ...notificationContents,
  }).map(([template, definition]) => [template, contentOf(definition as MailDefinition<unknown>)] as const);
  const contents: (readonly [string, EmailContent])[] = [
    ...defined,
    ...Object.entries(notices),
    ...Object.entries(notificationPreviews),
  ];
  return contents.flatMap(([template, content]) =>
    emailThemes.map((theme) => {
      const options = { id: template, to: 'you@example.com', name: 'Jo Example', theme, brand };
      return { template, theme, email: renderEmail(content, options) };
    }),
  );
}

function contentOf<Values>({ content, fixture }: MailDefinition<Values>): EmailContent {
  return content(fixture);
}
