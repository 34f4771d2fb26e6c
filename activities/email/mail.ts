import type { EmailContent } from '../clients/email/render.ts';

/** A mail to one recipient, before its layout. */
export interface Mail {
  readonly to: string;
  /** Name of the recipient; undefined where a stranger may have chosen it. */
  readonly name: string | undefined;
  readonly content: EmailContent;
}

/** What links in mails are made of. */
export interface Links {
  /** Makes the tokens of links; derived from `sessions.signingkey`. */
  readonly tokenKey: Buffer;
  /** Base of links that lead to the API itself (`integrations.email.apiurl`), without a trailing slash. */
  readonly apiUrl: string;
}
