import { emailChange } from '#entities/identity/email-change.ts';
import { reactivationEnd, user } from '#entities/identity/user.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { accountContents } from './account-contents.ts';
import { localeOf, type Links, type Mail } from './mail.ts';

const templates = [
  'confirm-email-change',
  'email-change-requested',
  'email-changed',
  'account-deactivated',
  'reactivation-expired',
  'account-deleted',
] as const;

/** Mails about an address or an account that is given up. */
export type AccountTemplate = (typeof templates)[number];

export function isAccountTemplate(template: SendEmailInput['template']): template is AccountTemplate {
  return (templates as readonly string[]).includes(template);
}

/** @returns undefined when the content of the mail is no longer true */
export async function accountMail(
  template: AccountTemplate,
  input: SendEmailInput,
  unit: UnitOfWork,
  links: Links,
): Promise<Mail | undefined> {
  const { about } = input;
  if (!about) return undefined;
  if (template === 'account-deactivated') return deactivatedMail(about, unit, links);
  if (template === 'reactivation-expired') return expiredMail(about, unit);
  const change = await unit.data.findOne(emailChange, { id: { eq: about.id } });
  if (!change) return undefined;
  const { email, newEmail, usedAt, expiresAt } = change;
  switch (template) {
    case 'confirm-email-change':
      if (usedAt || expiresAt <= unit.clock.now() || newEmail === null) return undefined;
      return {
        to: newEmail,
        // Somebody may have misspelt the address, so a stranger may get this mail.
        name: undefined,
        content: accountContents[template].content({
          url: `${links.apiUrl}/v1/account/email/confirm#token=${oneTimeToken(links.tokenKey, 'email-change', change.id, about.round)}`,
          until: localInstant(expiresAt, await localeOf(change, unit)),
        }),
      };
    case 'email-change-requested':
    case 'email-changed':
      return { to: email, name: undefined, content: accountContents[template].content({ newEmail: newEmail ?? '' }) };
    case 'account-deleted':
      return { to: email, name: undefined, content: accountContents[template].content({}) };
    default:
      template satisfies never;
      throw new Error(`unknown mail ${String(template)}`);
  }
}

async function deactivatedMail(
  { id, round }: NonNullable<SendEmailInput['about']>,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const person = await unit.data.findOne(user, { id: { eq: id } });
  // Changed since: this link would not work.
  if (person?.status !== 'deactivated' || person.recordVersion !== round) return undefined;
  const until = reactivationEnd(person);
  if (until <= unit.clock.now()) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: accountContents['account-deactivated'].content({
      url: `${apiUrl}/v1/account/reactivate#token=${oneTimeToken(tokenKey, 'reactivation', id, round)}`,
      until: localInstant(until, await localeOf({ userId: person.id }, unit)),
    }),
  };
}

/** Without a link: none works any more. */
async function expiredMail(
  { id, round }: NonNullable<SendEmailInput['about']>,
  unit: UnitOfWork,
): Promise<Mail | undefined> {
  const person = await unit.data.findOne(user, { id: { eq: id } });
  if (person?.status !== 'deactivated' || person.recordVersion !== round) return undefined;
  return { to: person.email, name: person.displayName, content: accountContents['reactivation-expired'].content({}) };
}
