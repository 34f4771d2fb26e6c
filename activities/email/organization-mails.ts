import { user } from '#entities/identity/user.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { organizationName, recipientOf, type Mail } from './mail.ts';

/** Tells that a member has become an owner; undefined when that is no longer so. */
export async function newOwnerMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const { about } = input;
  const person = await recipientOf(input, unit);
  const held = about && (await unit.data.findOne(membership, { id: { eq: about.id } }));
  if (!person || held?.role !== 'owner') return undefined;
  const [owner, name] = [
    await unit.data.findOne(user, { id: { eq: held.userId } }),
    await organizationName(held, unit),
  ];
  if (!owner || name === undefined) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: {
      subject: 'An organization has a new owner',
      paragraphs: [
        `${owner.email} is now an owner of ${name}, with all rights there.`,
        'If you do not expect this, write to the other owners, or to our support, at once.',
      ],
    },
  };
}

/** Tells whether single sign-on is enforced now. */
export function enforcementMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  return providerNotice(input, unit, ({ isEnforced }, name) => ({
    subject: isEnforced ? 'Single sign-on is enforced' : 'Single sign-on is no longer enforced',
    paragraphs: [
      isEnforced
        ? `Members of ${name} now act there only after its single sign-on. Owners keep their other ways to sign in.`
        : `Members of ${name} act there again without its single sign-on.`,
      'If you do not expect this, look at the settings and the managers of the organization.',
    ],
  }));
}

/** Tells which provider decides who the members are, after it was set or replaced. */
export function providerMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  return providerNotice(input, unit, ({ issuer, allowedDomains }, name) => ({
    subject: 'The provider of single sign-on was changed',
    paragraphs: [
      `The single sign-on of ${name} now uses the provider ${issuer}. Whoever runs it can sign in there as any member who has linked an identity of it.`,
      allowedDomains.length === 0
        ? 'No domain is allowed: nobody becomes a member with it.'
        : `People with addresses of these domains become members when they first sign in with it, once a DNS record proves the domain: ${allowedDomains.join(', ')}.`,
      'If you do not expect this, look at the settings and the managers of the organization.',
    ],
  }));
}

/** A mail about the settings of single sign-on as they are now; undefined once they or their organization are gone. */
async function providerNotice(
  input: SendEmailInput,
  unit: UnitOfWork,
  contentOf: (held: RowOf<typeof identityProvider>, name: string) => EmailContent,
): Promise<Mail | undefined> {
  const { about } = input;
  const person = await recipientOf(input, unit);
  const held = about && (await unit.data.findOne(identityProvider, { id: { eq: about.id } }));
  const name = held && (await organizationName(held, unit));
  if (!person || !held || name === undefined) return undefined;
  return { to: person.email, name: person.displayName, content: contentOf(held, name) };
}

/** Tells that the settings of single sign-on were deleted; it is about their organization. */
export async function removalMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const { about } = input;
  const person = await recipientOf(input, unit);
  const name = about && (await organizationName({ organizationId: about.id }, unit));
  if (!person || name === undefined) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: {
      subject: 'Single sign-on was removed',
      paragraphs: [
        `The single sign-on of ${name} was removed. Members act there again without it, and sessions that began with it have ended.`,
        'If you do not expect this, look at the managers of the organization.',
      ],
    },
  };
}
