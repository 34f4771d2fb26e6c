import { membership } from '#entities/organizations/membership.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Maximum number of owners of an organization who are told. */
const maxOwners = 20;

/** The ids of the owners of the organization of an event. */
export async function ownersOfOrganization(data: DataClient): Promise<string[]> {
  const owners = await data.find(membership, { where: { role: { eq: 'owner' } }, limit: maxOwners });
  return owners.map(({ userId }) => userId);
}
