import { systemCaller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { eventually } from '../eventually.ts';
import { isWaiting } from '../is-waiting.ts';
import type { World } from '../world.ts';

/**
 * Locks a record, begins something that has to wait for it, and changes what it depends on before it continues.
 * @param change in the transaction that holds the lock
 * @returns what became of the work that has waited
 */
export async function whileLocked<T>(
  world: World,
  [module, id]: readonly [EntityModule, string],
  work: () => Promise<T>,
  change: (data: DataClient) => Promise<unknown>,
): Promise<T> {
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const context = { caller: systemCaller('test'), requestId: newId() };
  const holding = world.runtime.database.transact(context, async ({ data }) => {
    await data.findLocked(module, id);
    lock();
    await released;
    await change(data);
  });
  await Promise.race([locked, holding]);
  const working = work();
  // Work that does not wait ends before the change.
  await Promise.race([eventually(() => isWaiting(world)), working.then(String, String)]);
  release();
  await holding;
  return working;
}
