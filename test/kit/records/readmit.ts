import { membership } from '#entities/index.ts';
import { asSystem } from '../as-person.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** Removes a member of an organization and admits them again with the same role. */
export async function readmit(world: World, organizationId: string, { user }: Pick<Person, 'user'>): Promise<void> {
  const role = await asSystem(world, organizationId, async (data) => {
    const where = { userId: { eq: user.id }, organizationId: { eq: organizationId } };
    const held = await data.findOne(membership, where);
    if (!held) throw new Error(`${user.id} is no member of ${organizationId}`);
    await data.remove(membership, held.id);
    return held.role;
  });
  await asSystem(world, organizationId, (data) => data.create(membership, { userId: user.id, role }));
}
