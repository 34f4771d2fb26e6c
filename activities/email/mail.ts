import { user } from '#entities/identity/user.ts';
import { unsubscribeRound } from '#entities/organizations/subscriber.ts';
import type { Locale } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { inertText } from '../clients/email/inert-text.ts';
import { readLocales } from '../listeners/notifications/read-locales.ts';

/** A mail to one recipient, before its layout. */
export interface Mail {
  readonly to: string;
  /** Name of the recipient; undefined where a stranger may have chosen it. */
  readonly name: string | undefined;
  readonly content: EmailContent;
}

/** Base URLs and keys of links in mails. */
export interface Links {
  /** Makes the tokens of links; derived from `sessions.signingkey`. */
  readonly tokenKey: Buffer;
  /** Base of links that lead to the API itself (`integrations.email.apiurl`), without a trailing slash. */
  readonly apiUrl: string;
  /** Base of links to the application (`ormconfig.notifications.consoleurl`), without a trailing slash; empty for none. */
  readonly consoleUrl: string;
  /** Id of the record of the e-mail; a token to unsubscribe names it. */
  readonly emailId: string;
}

/** Token with which the recipient of an e-mail ends those of the organization, as long as they keep it. */
export function unsubscribeTokenOf({ tokenKey, emailId }: Links): string {
  return oneTimeToken(tokenKey, 'unsubscribe', emailId, unsubscribeRound);
}

/** How the recipient of an e-mail reads dates. */
export async function localeOf(
  { userId = '', organizationId = '' }: Pick<SendEmailInput, 'userId' | 'organizationId'>,
  unit: UnitOfWork,
): Promise<Locale> {
  const member = { userId, organizationId };
  return (await readLocales(unit, [member])).for(member);
}

export async function recipientOf(
  { userId }: SendEmailInput,
  unit: UnitOfWork,
): Promise<RowOf<typeof user> | undefined> {
  return userId === undefined ? undefined : unit.data.findOne(user, { id: { eq: userId } });
}

/**
 * The name of an organization as mails show it; undefined for a deleted one. The founder of an organization chooses the name, and the mail
 * goes to strangers: a name that programs would make a link of is not shown.
 * @param instead what is shown then
 */
export async function organizationName(
  { organizationId }: { readonly organizationId: string },
  { data }: UnitOfWork,
  instead = 'their organization',
): Promise<string | undefined> {
  const found = await data.findOne(organization, { id: { eq: organizationId } });
  if (!found) return undefined;
  return quotedName(found.name) ?? instead;
}

/** A name that somebody chose, as a mail to others shows it; undefined for one of which programs would make a link. */
export function quotedName(name: string): string | undefined {
  return /:\/\/|www\.|[^\s.]\.[a-z]{2,}/i.test(name) ? undefined : `“${inertText(name)}”`;
}
