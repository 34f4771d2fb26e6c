import type { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Organizations of a person whose names are looked at. */
const maxOrganizations = 100;

/**
 * Words that an attacker would try first as the password of a person: the address and names of the person, and the names of their
 * organizations.
 */
export async function personalWords(
  data: DataClient,
  { id, email, displayName, firstName, lastName }: RowOf<typeof user>,
): Promise<string[]> {
  const held = await data.find(membership, { where: { userId: { eq: id } }, limit: maxOrganizations });
  const ids = held.map(({ organizationId }) => organizationId);
  const homes =
    ids.length === 0 ? [] : await data.find(organization, { where: { id: { in: ids } }, limit: maxOrganizations });
  const names = homes.flatMap((home) => organizationWords(home));
  return [email, displayName, ...[firstName, lastName].flatMap((name) => name ?? []), ...names];
}

/** The names of an organization. */
export function organizationWords({
  name,
  displayName,
}: Pick<RowOf<typeof organization>, 'name' | 'displayName'>): string[] {
  return displayName === null ? [name] : [name, displayName];
}
