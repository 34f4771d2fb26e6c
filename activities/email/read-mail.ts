import { user } from '#entities/identity/user.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { unsubscribeRound } from '#entities/organizations/subscriber.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { readLocales } from '../listeners/notifications/read-locales.ts';
import { contentOf, type Links, type Mail, type MailContext } from '../mails/define-mail.ts';
import { mailNamed } from '../mails/index.ts';
import { digestMail, notificationMail } from './notification-mails.ts';

/** A mail to one recipient, before its layout. */
export interface AddressedMail {
  readonly to: string;
  /** Name of the recipient; undefined where a stranger may have chosen it. */
  readonly name: string | undefined;
  readonly content: EmailContent;
}

/** Mails that carry notifications: they read the list of all, so they are not found with it. */
const carriers = new Map([notificationMail, digestMail].map((mail) => [mail.name, mail]));

type Input = MailContext<unknown>['input'];

/** The mail as its records are now; undefined when what it says is no longer true. */
export async function readMail(input: Input, unit: UnitOfWork, links: Links): Promise<AddressedMail | undefined> {
  const mail = mailOf(input);
  const { about, userId } = input;
  const record = mail.about && about && (await unit.data.findOne(mail.about, { id: { eq: about.id } }));
  if (mail.about && !record) return undefined;
  const isToPerson = mail.to === undefined && userId !== undefined;
  const person = isToPerson ? await unit.data.findOne(user, { id: { eq: userId } }) : undefined;
  const to = mail.to && record ? mail.to(record) : person?.email;
  if (to == null) return undefined;
  const context = { ...contextOf(input, unit, links), person, record };
  // Without a kind, no mail reads the record.
  const values = mail.values ? await mail.values(context as Parameters<typeof mail.values>[0]) : {};
  if (values === undefined) return undefined;
  return { to, name: person?.displayName, content: contentOf(mail, values, context.unsubscribeToken) };
}

/** Updates records of other kinds after their e-mail was sent. */
export async function recordSent(input: Input, unit: UnitOfWork): Promise<void> {
  if (input.about) await mailOf(input).onSent?.(input.about, unit);
}

/** Ends the due work of an e-mail that is not sent: outdated or given up. A mail that this release does not have has none. */
export async function recordUnsent({ template, about }: Input, unit: UnitOfWork): Promise<void> {
  if (about) await (mailNamed(template) ?? carriers.get(template))?.onUnsent?.(about, unit);
}

/** @throws TypeError for a mail that this release does not have */
function mailOf({ template }: Input): Mail {
  const mail = mailNamed(template) ?? carriers.get(template);
  if (!mail) throw new TypeError(`this release has no mail "${template}"`);
  return mail;
}

function contextOf(input: Input, unit: UnitOfWork, links: Links): Omit<MailContext<unknown>, 'person' | 'record'> {
  const { about, userId = '', organizationId = '' } = input;
  return {
    input,
    unit,
    links,
    unsubscribeToken: oneTimeToken(links.tokenKey, 'unsubscribe', links.emailId, unsubscribeRound),
    link: (path, purpose, round = about?.round ?? 1) =>
      `${links.apiUrl}${path}#token=${oneTimeToken(links.tokenKey, purpose, about?.id ?? '', round)}`,
    instant: async (at, reader = {}) => {
      const member = { userId: reader.userId ?? userId, organizationId };
      return localInstant(at, (await readLocales(unit, [member])).for(member));
    },
  };
}
