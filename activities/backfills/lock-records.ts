import type { EntityModule } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/**
 * Locks records until the end of the transaction. A later reading finds them as people have left them.
 * @returns ids of those that are still there
 */
export async function lockRecords(
  { data }: Pick<UnitOfWork, 'data'>,
  module: EntityModule,
  ids: readonly string[],
): Promise<string[]> {
  const [id] = ids;
  // Of one record, `lockAll` leaves the lock to its change.
  if (id !== undefined && ids.length === 1) return (await data.findLocked(module, id)) ? [id] : [];
  await data.lockAll([{ module, ids, operation: 'edit', values: {} }]);
  const kept = await data.find(module, { where: { id: { in: [...ids] } }, limit: ids.length });
  return kept.map((row) => row.id);
}
