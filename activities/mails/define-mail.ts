import type { user } from '#entities/identity/user.ts';
import type { TokenPurpose } from '#entities/kit/base/secrets/one-time-token.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { PayloadIn, Subscription } from '#entities/kit/model/events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { WorkflowPriority } from '#workflows/kit/contract.ts';
import type { EmailContent } from '../clients/email/content.ts';
import type { Audience, Occasion } from './audience.ts';

/** Base URLs and keys of links in mails. */
export interface Links {
  /** Makes the tokens of links; derived from `sessions.signingkey`. */
  readonly tokenKey: Buffer;
  /** Base of links that lead to the API itself (`integrations.email.apiurl`), without a trailing slash. */
  readonly apiUrl: string;
  /** Base of links to the application (`ormconfig.notifications.consoleurl`), without a trailing slash; empty for none. */
  readonly consoleUrl: string;
  /** Page on which people see the plan of their organization (`subscription.paymentbillingportalsuccessurl`); empty for none. */
  readonly billingUrl: string;
  /** Id of the record of the e-mail; a token to unsubscribe names it. */
  readonly emailId: string;
}

/** Records and functions from which a mail is made when it is sent. */
export interface MailContext<Record> {
  /** The recipient; undefined for a mail to an address (`to`). */
  readonly person: RowOf<typeof user> | undefined;
  /** The record that the mail is about, as it is now. */
  readonly record: Record;
  /** Input of the workflow that sends the mail: its recipient, and in `about` the id and the round of its record. */
  readonly input: Omit<SendEmailInput, 'queue'>;
  /** Unit of work of the server, in the organization of the mail; it reads, as of this attempt to send. */
  readonly unit: UnitOfWork;
  readonly links: Links;
  /** With it, the recipient ends such e-mails of the organization. */
  readonly unsubscribeToken: string;
  /**
   * URL of a page of the API with a token for the record.
   * @param path of the page, such as `/v1/verify`
   * @param round from 1 on; the token is valid while the record has the same one. That of the mail (`input.about.round`) when left out
   */
  readonly link: (path: string, purpose: TokenPurpose, round?: number) => string;
  /** Date and time as text, in the language and the time zone of the recipient, or of `reader`. */
  readonly instant: (at: Date, reader?: Pick<SendEmailInput, 'userId'>) => Promise<string>;
}

interface Definition<S extends Subscription, Kind extends EntityModule, Values> {
  /** Events that it follows; none for a mail that a listener starts. */
  readonly follows?: readonly S[];
  /** Name of its listener, which is part of keys and ids and never changes; `mail-<name>` when left out. Mails may share one. */
  readonly listener?: string;
  /** Whether an event causes the mail, decided once when it is delivered; always when left out. */
  readonly condition?: (occasion: Occasion<PayloadIn<S>>) => boolean | Promise<boolean>;
  readonly audience?: Audience<PayloadIn<S>>;
  /** Time for which it waits before it is made and sent, in milliseconds, so that those of many records are spread. */
  readonly delayMs?: (occasion: Occasion<PayloadIn<S>>) => number;
  /** Its place in a full queue, 1 (first) to 5; 1, that of mails about accounts and security, when left out. */
  readonly priority?: WorkflowPriority;
  /** Kind of the record that it is about. Nothing is sent once the record is deleted. */
  readonly about?: Kind;
  /** Address that it goes to, without a name: a stranger may have entered it. The person of the input when left out. */
  readonly to?: (record: RowOf<Kind>) => string | null;
  /** Values of its text, as the records are now. @returns undefined when what it says is no longer true: then nothing is sent */
  readonly values?: (context: MailContext<RowOf<Kind>>) => Values | undefined | Promise<Values | undefined>;
  /** The text, or how it is made from the values. Providers track no mail that has a token in a link (`renderEmail`). */
  readonly text: EmailContent | ((values: Values) => EmailContent);
  /** Values as they could be, for the preview and for tests of the looks. */
  readonly sample?: NoInfer<Values>;
  /**
   * Such e-mails, for the sentence “no more e-mails about …”: its link to unsubscribe ends them. Absent for mails about accounts and
   * security, which have no such link.
   */
  readonly unsubscribesFrom?: string;
  /** Records that it was sent; it may be called several times. */
  readonly onSent?: (about: NonNullable<SendEmailInput['about']>, unit: UnitOfWork) => Promise<void>;
  /** Ends the due work that it was to do, if it waits still: it is not sent. It may be called several times. */
  readonly onUnsent?: (about: NonNullable<SendEmailInput['about']>, unit: UnitOfWork) => Promise<void>;
}

/** A mail that follows events has an audience, and one with values has a sample of them. */
type Complete<S extends Subscription, Kind extends EntityModule, Values> = (
  | Required<Pick<Definition<S, Kind, Values>, 'follows' | 'audience'>>
  | { readonly follows?: undefined }
) &
  (Required<Pick<Definition<S, Kind, Values>, 'values' | 'sample'>> | { readonly text: EmailContent });

export interface Mail extends Definition<Subscription, EntityModule, unknown> {
  /** Kept in the records of e-mails, so it never changes. */
  readonly name: string;
  readonly listener: string;
}

/** Declares a mail. @param name kebab-case, the name of its file without `.mail.ts` */
export function defineMail<
  const S extends Subscription = Subscription,
  Kind extends EntityModule = EntityModule,
  Values = object,
>(name: string, definition: Definition<S, Kind, Values> & Complete<S, Kind, Values>): Mail {
  return {
    listener: `mail-${name}`,
    // It is given events of its topics and records of its kind only, and its text the values that it has made.
    ...(definition as unknown as Definition<Subscription, EntityModule, unknown>),
    name,
  };
}

/** Content of a mail. @param unsubscribeToken of the record of the e-mail */
export function contentOf(
  { name, text, unsubscribesFrom }: Mail,
  values: unknown,
  unsubscribeToken: string,
): EmailContent {
  const content = typeof text === 'function' ? text(values) : text;
  return unsubscribesFrom === undefined ? content : { ...content, topics: [name], unsubscribeToken };
}

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
