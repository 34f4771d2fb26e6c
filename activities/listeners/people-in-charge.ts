import { membership } from '#entities/organizations/membership.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Maximum number of owners of an organization who are told. */
const maxOwners = 20;

/** Ids of the owners of the organization of an event, and of the person who acted: they notice what they did not expect. */
export async function peopleInCharge(data: DataClient, actor: string): Promise<string[]> {
  const owners = await data.find(membership, { where: { role: { eq: 'owner' } }, limit: maxOwners });
  return [...new Set([...owners.map(({ userId }) => userId), ...personIn(actor)])];
}

/** The id of the person who acted, as a list of one, or an empty list. */
export function personIn(actor: string): string[] {
  const [kind, id] = actor.split(':');
  return kind === 'user' && id !== undefined ? [id] : [];
}
