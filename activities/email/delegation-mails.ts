import { delegation } from '#entities/identity/delegation.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import { organizationContents } from './organization-contents.ts';
import { recipientOf, type Mail } from './mail.ts';

/** Without the reason: who acts chooses the text. The record has it, and stays when the access ends, so the mail always names them. */
export async function delegationMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const held = input.about && (await unit.data.findOne(delegation, { id: { eq: input.about.id } }));
  if (!person || !held) return undefined;
  const isImpersonation = input.template === 'impersonation-begun';
  const content = organizationContents[isImpersonation ? 'impersonation-begun' : 'support-access-begun'].content({
    actor: held.actorEmail,
    period: period(held, isImpersonation ? 'there as you' : 'there'),
  });
  return { to: person.email, name: person.displayName, content };
}

type Held = RowOf<typeof delegation>;

function period({ createdAt, expiresAt, endedAt }: Held, where: string): string {
  return endedAt
    ? `acted ${where} from ${createdAt.toUTCString()} until ${endedAt.toUTCString()}`
    : `acts ${where} until ${expiresAt.toUTCString()} at the latest`;
}

export async function supportConsentMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const held = input.about && (await unit.data.findOne(supportConsent, { id: { eq: input.about.id } }));
  // Taken back meanwhile.
  if (!person || !held) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: organizationContents['support-consent-given'].content({ until: held.expiresAt.toUTCString() }),
  };
}
