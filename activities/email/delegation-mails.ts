import { delegation } from '#entities/identity/delegation.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { recipientOf, type Mail } from './mail.ts';

/** Without the reason: who acts chooses the text. The record has it, and stays when the access ends, so the mail always names them. */
export async function delegationMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const person = await recipientOf(input, unit);
  const held = input.about && (await unit.data.findOne(delegation, { id: { eq: input.about.id } }));
  if (!person || !held) return undefined;
  const content = input.template === 'impersonation-begun' ? impersonation(held) : support(held);
  return { to: person.email, name: person.displayName, content };
}

type Held = RowOf<typeof delegation>;

function impersonation(held: Held): EmailContent {
  return {
    subject: 'Somebody acts as you',
    paragraphs: [
      `${held.actorEmail}, who manages an organization of which you are a member, ${period(held, 'there as you')}.`,
      'They reach neither your account nor other organizations, and the history of each change names them. If you do not expect this, ask an owner of the organization.',
    ],
  };
}

function support(held: Held): EmailContent {
  return {
    subject: 'Support has access to your organization',
    paragraphs: [
      `Support (${held.actorEmail}), to which your organization has given its consent, ${period(held, 'there')}.`,
      'The reason is in the list of delegations. To end the access at once, delete the consent to support access.',
    ],
  };
}

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
    content: {
      subject: 'Your organization is open to support',
      paragraphs: [
        `An owner has given the consent of your organization to support access, until ${held.expiresAt.toUTCString()}. Each access is announced, and is on record with its reason.`,
        'If you do not expect this, delete the consent: that ends all access at once.',
      ],
    },
  };
}
