import type { Config } from '#config/objects/root.ts';
import { emailThemes, type EmailContent, type EmailThemeName } from '../clients/email/content.ts';
import { emailBrand } from '../clients/email/email-brand.ts';
import { renderEmail } from '../clients/email/render.ts';
import type { OutgoingEmail } from '../clients/email/transport.ts';
import { contentOf, sample } from '../mails/define-mail.ts';
import { mails } from '../mails/index.ts';
import { notificationPreviews } from './notification-contents.ts';
import { digestMail, notificationMail } from './notification-mails.ts';

export interface MailPreview {
  readonly template: string;
  readonly theme: EmailThemeName;
  readonly email: OutgoingEmail;
}

/** Every mail of the product with the values of its sample, in each theme. @param at decides the year of the copyright */
export function previewMails(config: Config, at: Date): MailPreview[] {
  const brand = emailBrand(config, at);
  const contents: (readonly [string, EmailContent])[] = [
    ...[...mails, notificationMail, digestMail].map(
      (mail) => [mail.name, contentOf(mail, mail.sample, sample.unsubscribeToken)] as const,
    ),
    ...Object.entries(notificationPreviews),
  ];
  return contents.flatMap(([template, content]) =>
    emailThemes.map((theme) => {
      const options = { id: template, to: 'you@example.com', name: 'Jo Example', theme, brand };
      return { template, theme, email: renderEmail(content, options) };
    }),
  );
}
