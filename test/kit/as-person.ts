import { readStanding } from '#entities/kit/access.ts';
import { callerOf, systemCaller, type Caller } from '#entities/kit/caller.ts';
import type { DataClient } from '#entities/kit/data-client.ts';
import { newId } from '#entities/kit/ids.ts';
import type { Person } from './people.ts';
import type { World } from './world.ts';

/** Runs a unit of work for a person, with the rights that they have in the organization now. */
export async function asPerson<T>(
  world: World,
  person: Person,
  organizationId: string,
  work: (data: DataClient) => Promise<T>,
): Promise<T> {
  const { role, groupIds, relations } = await readStanding(
    world.backbone.database,
    { userId: person.user.id, tokenId: newId(), organizationId },
    { deadline: Date.now() + 5_000, traceparent: '' },
  );
  const caller = callerOf({ kind: 'user', subjectId: person.user.id, organizationId, role, groupIds, relations });
  return run(world, caller, work);
}

/** Runs a unit of work for the server itself, in an organization. */
export function asSystem<T>(world: World, organizationId: string, work: (data: DataClient) => Promise<T>): Promise<T> {
  return run(world, systemCaller('test', organizationId), work);
}

function run<T>(world: World, caller: Caller, work: (data: DataClient) => Promise<T>): Promise<T> {
  return world.backbone.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}
