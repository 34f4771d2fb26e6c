import { apiToken } from '#entities/identity/api-token.ts';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { invite } from '#entities/organizations/invite.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { accountContents } from './account-contents.ts';
import { accountMail, isAccountTemplate } from './account-mails.ts';
import { delegationMail, supportConsentMail } from './delegation-mails.ts';
import { inviteAcceptedMail, inviteMail, recordSentInvite } from './invite-mails.ts';
import { localeOf, organizationName, quotedName, recipientOf, type Links, type Mail } from './mail.ts';
import { digestMail, notificationMail } from './notification-mails.ts';
import { notices } from './notices.ts';
import { enforcementMail, newOwnerMail, providerMail, removalMail } from './organization-mails.ts';
import { recordSentVerification, subscriberMail } from './subscriber-mails.ts';

/** The mail as its records are now; undefined when what it says is no longer true. */
export async function readMail(input: SendEmailInput, unit: UnitOfWork, links: Links): Promise<Mail | undefined> {
  if (isAccountTemplate(input.template)) return accountMail(input.template, input, unit, links);
  if (hasMail(input.template)) return mails[input.template](input, unit, links);
  const person = await recipientOf(input, unit);
  if (!person) return undefined;
  return { to: person.email, name: person.displayName, content: notices[input.template] };
}

async function verificationMail(
  { about }: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const verification = about && (await unit.data.findOne(emailVerification, { id: { eq: about.id } }));
  // The address was confirmed meanwhile: this link would not work.
  if (!verification || verification.usedAt) return undefined;
  const token = oneTimeToken(tokenKey, 'email-verification', verification.id, verification.round);
  return {
    to: verification.email,
    // The name is left out until the address is confirmed: a stranger may have chosen it as a text for this address.
    name: undefined,
    content: accountContents['verify-address'].content({ url: `${apiUrl}/v1/verify#token=${token}` }),
  };
}

async function resetMail(
  input: SendEmailInput,
  unit: UnitOfWork,
  { tokenKey, apiUrl }: Links,
): Promise<Mail | undefined> {
  const { about } = input;
  const reset = about && (await unit.data.findOne(passwordReset, { id: { eq: about.id } }));
  const person = await recipientOf(input, unit);
  const isUsable = reset && !reset.usedAt && reset.expiresAt > unit.clock.now();
  // Meanwhile a password was set, the account changed, or the time is up: this link would not work.
  if (!isUsable || !person?.emailConfirmedAt || person.status !== 'active' || person.email !== reset.email)
    return undefined;
  const token = oneTimeToken(tokenKey, 'password-reset', reset.id, about.round);
  return {
    to: reset.email,
    name: person.displayName,
    content: accountContents['reset-password'].content({
      url: `${apiUrl}/v1/password-reset#token=${token}`,
      until: localInstant(reset.expiresAt, await localeOf(input, unit)),
    }),
  };
}

async function newDeviceMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const { device } = input;
  if (!person || !device) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: accountContents['new-device'].content({
      device: productsOf(device.userAgent),
      address: device.address,
      at: localInstant(new Date(device.at), await localeOf(input, unit)),
    }),
  };
}

/** Names the organization of those who came by an invitation. */
async function welcomeMail(input: SendEmailInput, unit: UnitOfWork, { apiUrl }: Links): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  if (!person) return undefined;
  const where = { recipient: { eq: person.email }, status: { eq: 'accepted' } } as const;
  const accepted = await unit.data.findOne(invite, where);
  return {
    to: person.email,
    name: person.displayName,
    content: accountContents.welcome.content({
      organization: accepted && (await organizationName(accepted, unit, 'the organization that invited you')),
      url: `${apiUrl}/v1/login`,
    }),
  };
}

async function tokenMail(
  template: 'token-created' | 'token-rotated',
  input: SendEmailInput,
  unit: UnitOfWork,
): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  if (!person || !input.about) return undefined;
  const where = { id: { eq: input.about.id } };
  const ofOrganization = await unit.data.findOne(apiToken, where);
  const found = ofOrganization ?? (await unit.data.findOne(personalAccessToken, where));
  return {
    to: person.email,
    name: person.displayName,
    content: accountContents[template].content({
      token: found && {
        isOfOrganization: ofOrganization !== undefined,
        // The creator of the token chooses its name.
        name: quotedName(found.name) ?? 'whose name contains a link',
        hint: found.hint,
      },
    }),
  };
}

/** The products that a User-Agent names (RFC 9110, section 10.1.5), and nothing else of it: who signs in chooses the text. */
function productsOf(userAgent: string): string {
  const products = userAgent.match(/(?<![^ ])[A-Za-z]{2,20}\/\d{1,5}(?:\.\d{1,5}){0,3}(?![^ ])/g) ?? [];
  return products.slice(0, 4).join(' ') || 'unknown';
}

type ReadMail = (input: SendEmailInput, unit: UnitOfWork, links: Links) => Promise<Mail | undefined>;

/** Mails that say more than that something has happened, besides those of accounts. */
const mails = {
  'verify-address': verificationMail,
  'reset-password': resetMail,
  'new-device': newDeviceMail,
  'token-created': (input, unit) => tokenMail('token-created', input, unit),
  'token-rotated': (input, unit) => tokenMail('token-rotated', input, unit),
  welcome: welcomeMail,
  'support-consent-given': supportConsentMail,
  'support-access-begun': delegationMail,
  'impersonation-begun': delegationMail,
  'new-owner': newOwnerMail,
  'single-sign-on-enforcement': enforcementMail,
  'single-sign-on-provider': providerMail,
  'single-sign-on-removed': removalMail,
  invite: inviteMail,
  'invite-accepted': inviteAcceptedMail,
  'verify-subscriber': subscriberMail,
  notification: notificationMail,
  digest: digestMail,
} as const satisfies Partial<Record<SendEmailInput['template'], ReadMail>>;

/** Updates records of other kinds after their own e-mails were sent. */
export const sentRecords: Partial<
  Record<SendEmailInput['template'], (input: SendEmailInput, unit: UnitOfWork) => Promise<void>>
> = { invite: recordSentInvite, 'verify-subscriber': recordSentVerification };

function hasMail(template: SendEmailInput['template']): template is keyof typeof mails {
  return Object.hasOwn(mails, template);
}
