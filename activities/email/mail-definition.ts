import type { EmailContent } from '../clients/email/content.ts';

/** Content of one mail, made of values that are read when it is sent. */
export interface MailDefinition<Values> {
  /** Values as they could be, for the preview and for tests of the looks. */
  readonly fixture: Values;
  readonly content: (values: Values) => EmailContent;
}

export function defineMail<Values>(fixture: Values, content: (values: Values) => EmailContent): MailDefinition<Values> {
  return { fixture, content };
}

/** Values of fixtures that several mails have. */
export const sample: Readonly<
  Record<'url' | 'signInUrl' | 'until' | 'organization' | 'person' | 'unsubscribeToken', string>
> = {
  url: 'https://api.example.com/v1/verify#token=01JEXAMPLE0000000000000000.c2lnbmF0dXJl',
  signInUrl: 'https://api.example.com/v1/login',
  until: 'June 1, 2026 at 12:00 PM UTC',
  organization: '“Example Compliance”',
  person: 'jo@example.com',
  unsubscribeToken: '01JEXAMPLE0000000000000000.c2lnbmF0dXJl',
};
