import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { callerNow } from './caller-now.ts';
import type { Person } from './people.ts';
import { untilAvailable } from './until-available.ts';
import type { World } from './world.ts';

/** Runs a unit of work for a person, with the rights that they have in the organization now. */
export async function asPerson<T>(
  world: World,
  person: Person,
  organizationId: string,
  work: (data: DataClient) => Promise<T>,
): Promise<T> {
  return run(world, await callerNow(world.runtime, person.user.id, organizationId), work);
}

/** Runs a unit of work for the server itself, in an organization. */
export function asSystem<T>(world: World, organizationId: string, work: (data: DataClient) => Promise<T>): Promise<T> {
  return run(world, systemCaller('test', organizationId), work);
}

function run<T>(world: World, caller: Caller, work: (data: DataClient) => Promise<T>): Promise<T> {
  return transactAs(world.runtime, caller, ({ data }) => work(data));
}

/** Runs a unit of work for a caller, again while a decision has to wait for the authorization store. */
export function transactAs<T>(
  { database }: Pick<World['runtime'], 'database'>,
  caller: Caller,
  work: (unit: UnitOfWork) => Promise<T>,
  requestId: string = newId(),
): Promise<T> {
  return untilAvailable(() => database.transact({ caller, requestId }, work));
}
