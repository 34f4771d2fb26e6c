import { organization } from '#entities/organizations/organization.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { inertText } from '../clients/email/inert-text.ts';

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
  return shownName(found.name) ?? instead;
}

/** A name that somebody chose, as a mail to others shows it; undefined for one of which programs would make a link. */
export function shownName(name: string): string | undefined {
  return /:\/\/|www\.|[^\s.]\.[a-z]{2,}/i.test(name) ? undefined : `“${inertText(name)}”`;
}
