import { organization, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { expect } from 'vitest';
import { asOwner } from './as-owner.ts';
import { asSystem } from './as-person.ts';
import { buildPerson, signedIn, type Person } from './people.ts';
import type { TestClient } from './test-client.ts';
import type { World } from './world.ts';

export interface Doomed {
  readonly owner: Person;
  readonly client: TestClient;
  readonly id: string;
  readonly name: string;
}

/** An organization with a member besides its founder, and with tasks below each other. */
export async function doomed(world: World, tasks: number): Promise<Doomed> {
  const owner = await buildPerson(world);
  const client = await signedIn(world, owner);
  const name = `Doomed ${newId().slice(-8)}`;
  const made = await client.graphql(
    'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
    { name },
  );
  const { id } = made.data.createOrganization.organization;
  const home = await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, ({ data }) =>
    data.get(organization, id),
  );
  await buildPerson(world, { organization: home, role: 'member' });
  await asSystem(world, id, async (data) => {
    const parent = await data.create(task, { title: 'above', assigneeId: owner.user.id });
    for (let left = tasks - 1; left > 0; left -= 500)
      await data.createAll(
        Array.from({ length: Math.min(left, 500) }, (_none, index) => ({
          module: task,
          input: { title: `task ${index}`, assigneeId: owner.user.id, parentId: parent.id },
          path: `/${index}`,
        })),
      );
  });
  expect((await client.post('/v1/switch', { target_organization_id: id })).status).toBe(200);
  return { owner, client, id, name };
}

/** Deletes it, as its owner does. */
export const remove = ({ client, id }: Doomed) => client.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` });

/** Numbers of its live records. */
export async function left(world: World, id: string): Promise<Record<string, number>> {
  const [counts] = await asOwner<Record<string, number>>(
    world,
    `select (select count(*)::int from tasks where organization_id = $1 and deleted_at is null) as tasks,
       (select count(*)::int from groups where organization_id = $1 and deleted_at is null) as groups,
       (select count(*)::int from memberships where organization_id = $1 and deleted_at is null) as memberships,
       (select count(*)::int from desired_tuples where organization_id = $1 and present) as tuples,
       (select count(*)::int from webhook_events where document like '%' || $1 || '%') as received`,
    [id],
  );
  return counts as Record<string, number>;
}
