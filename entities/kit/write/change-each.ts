import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import { checkRowCount } from './change-counters.ts';
import { LockedSet } from './change-set.ts';
import type { ChangeWork, Stamp } from './change-work.ts';
import { planChanges } from './plan-changes.ts';

type Row = Record<string, unknown>;

interface EachRequest {
  readonly module: EntityModule;
  readonly ids: readonly string[];
  readonly caller: Caller;
  readonly stamp: Stamp;
  /** Validated values of a row as it is now; undefined where it stays as it is. */
  readonly valuesOf: (row: Row) => Row | undefined;
}

/**
 * Changes each of many records in its own way, all or none: one statement locks them, one reads them, and the next flush writes them
 * together.
 * @throws AppError limit_exceeded, permission_denied; see `planChanges`
 */
export async function changeEach(work: ChangeWork, { valuesOf, ...request }: EachRequest): Promise<void> {
  const ids = [...new Set(request.ids)];
  if (ids.length === 0) return;
  checkRowCount(ids.length, '/ids');
  work.counters.reserve(ids.length, work.context.caller);
  const edit = { ...request, ids, operation: 'edit', values: {} } as const;
  await work.serialize(async () => {
    const set = new LockedSet(work, edit);
    await set.lock();
    for (const [id, found] of await set.read(request.caller)) {
      const values = valuesOf(found.row);
      if (!values) continue;
      const access = { lock: () => Promise.resolve(), read: () => Promise.resolve(new Map([[id, found]])) };
      const { caller, changes, refusals } = await planChanges(work, { ...edit, ids: [id], values }, access);
      const refusal = refusals.get(id);
      if (refusal) throw refusal;
      for (const change of changes)
        await work.update(databaseRoleOf(caller), request.module, change.row, {
          values: change.values,
          stamp: request.stamp,
        });
    }
  });
}
