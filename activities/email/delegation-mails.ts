import { delegation } from '#entities/identity/delegation.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import { localInstant, type Locale } from '#entities/kit/base/localized.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { organizationContents } from './organization-contents.ts';
import { localeOf, recipientOf, type Mail } from './mail.ts';

/** Without the reason: who acts chooses the text. The record has it, and stays when the access ends, so the mail always names them. */
export async function delegationMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const held = input.about && (await unit.data.findOne(delegation, { id: { eq: input.about.id } }));
  if (!person || !held) return undefined;
  const isImpersonation = input.template === 'impersonation-begun';
  const content = organizationContents[isImpersonation ? 'impersonation-begun' : 'support-access-begun'].content({
    actor: held.actorEmail,
    period: period(held, isImpersonation ? 'there as you' : 'in your organization', await localeOf(input, unit)),
  });
  return { to: person.email, name: person.displayName, content };
}

type Held = RowOf<typeof delegation>;

function period({ createdAt, expiresAt, endedAt }: Held, where: string, locale: Locale): string {
  return endedAt
    ? `acted ${where} from ${localInstant(createdAt, locale)} until ${localInstant(endedAt, locale)}`
    : `acts ${where} until ${localInstant(expiresAt, locale)} at the latest`;
}

export async function supportConsentMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const held = input.about && (await unit.data.findOne(supportConsent, { id: { eq: input.about.id } }));
  // Taken back meanwhile.
  if (!person || !held) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: organizationContents['support-consent-given'].content({
      until: localInstant(held.expiresAt, await localeOf(input, unit)),
    }),
  };
}
