import { user } from '#entities/identity/user.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SendEmailInput } from '#workflows/email/send-email.contract.ts';
import type { EmailContent } from '../clients/email/content.ts';
import { organizationContents } from './organization-contents.ts';
import { organizationName, recipientOf, type Mail } from './mail.ts';

/** Reports that a member has become an owner; undefined when that is no longer so. */
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
    content: organizationContents['new-owner'].content({ owner: owner.email, name }),
  };
}

/** Reports whether single sign-on is enforced now. */
export function enforcementMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  return providerNotice(input, unit, ({ isEnforced }, name) =>
    organizationContents['single-sign-on-enforcement'].content({ isEnforced, name }),
  );
}

/** Reports which provider decides who the members are, after it was set or replaced. */
export function providerMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  return providerNotice(input, unit, ({ issuer, allowedDomains }, name) =>
    organizationContents['single-sign-on-provider'].content({ issuer, domains: allowedDomains, name }),
  );
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

/** Reports that the settings of single sign-on were deleted; it is about their organization. */
export async function removalMail(input: SendEmailInput, unit: UnitOfWork): Promise<Mail | undefined> {
  const { about } = input;
  const person = await recipientOf(input, unit);
  const name = about && (await organizationName({ organizationId: about.id }, unit));
  if (!person || name === undefined) return undefined;
  return {
    to: person.email,
    name: person.displayName,
    content: organizationContents['single-sign-on-removed'].content({ name }),
  };
}
