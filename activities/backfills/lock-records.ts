import type { EntityModule } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/**
 * Locks records until the end of the transaction: nobody changes them between the reading and the change.
 * @returns ids of those that are still there
 */
export async function lockRecords(
  { data }: Pick<UnitOfWork, 'data'>,
  module: EntityModule,
  ids: readonly string[],
): Promise<string[]> {
  await data.lockAll([{ module, ids, operation: 'edit', values: {} }]);
  const kept = (await data.find(module, { where: { id: { in: [...ids] } }, limit: ids.length })).map(({ id }) => id);
  const [sole] = kept;
  // Of one record, `lockAll` leaves the lock to its change.
  if (sole !== undefined && kept.length === 1) return (await data.findLocked(module, sole)) ? kept : [];
  return kept;
}
