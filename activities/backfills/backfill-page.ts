import { isAppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { backfillRun } from '#entities/organizations/backfill-run.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import type { Backfill } from './define-backfill.ts';

export type BackfillRun = RowOf<typeof backfillRun>;

/** A record that failed, with the reason. */
export interface BackfillFailure {
  readonly id: string;
  readonly reason: string;
}

/** Before the first page. */
const firstId = firstIdAt(new Date(0));

/** Most records of one run that may fail. With more, the cause is not in the records. */
const maxFailures = 1_000;

/** Most characters of a reason that are kept. */
const maxReason = 300;

export function failuresOf({ failures }: BackfillRun): readonly BackfillFailure[] {
  return (failures ?? []) as readonly BackfillFailure[];
}

/** A transaction of a backfill. */
function inUnit<T>(database: Database, backfill: Backfill, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  const context = workContext(systemCaller('backfill'), `backfill-${backfill.name}-${backfill.version}`);
  return database.transact(context, work);
}

function findRun({ data }: UnitOfWork, { name, version }: Backfill): Promise<BackfillRun | undefined> {
  return data.findOne(backfillRun, { routine: { eq: name }, version: { eq: version } });
}

/** A transaction of a backfill, in which its run is locked: pages of two workers come one after the other. */
function withRun(
  database: Database,
  backfill: Backfill,
  work: (unit: UnitOfWork, run: BackfillRun) => Promise<BackfillRun>,
): Promise<BackfillRun> {
  const { name: routine, version } = backfill;
  return inUnit(database, backfill, async (unit) => {
    const known = await findRun(unit, backfill);
    const run = known
      ? await unit.data.findLocked(backfillRun, known.id)
      : await unit.data.create(backfillRun, { routine, version });
    if (!run) throw new Error(`the run of the backfill ${routine} is gone`);
    return work(unit, run);
  });
}

/**
 * Does the next page and moves the position of the run, in one transaction. Records of a page that fails or takes too long are tried alone;
 * those that fail again are kept with their reason.
 * @throws AppError when the database cannot be used; errors of `find`
 */
export async function doPage(database: Database, backfill: Backfill, limit: number): Promise<BackfillRun> {
  let ids: readonly string[] = [];
  try {
    const after = await withRun(database, backfill, async (unit, run) => {
      if (run.status === 'completed') return run;
      ids = await backfill.find(unit, { after: run.position ?? firstId, limit });
      const last = ids.at(-1);
      if (last === undefined) return complete(unit, run);
      const changed = await backfill.apply(unit, ids);
      const moved = await unit.data.update(backfillRun, run.id, {
        position: last,
        examinedRecords: run.examinedRecords + ids.length,
        changedRecords: run.changedRecords + changed,
      });
      await unit.flush();
      failpoint('backfill-written', backfill.name);
      return moved;
    });
    failpoint('backfill-committed', backfill.name);
    return after;
  } catch (error) {
    const [first] = ids;
    const isTooLarge = limit > 1 && isAppError(error) && error.code === 'deadline_exceeded';
    if (first === undefined || (isTransient(error) && !isTooLarge)) throw error;
    return limit === 1 ? skipRecord(database, backfill, first, error) : doEach(database, backfill, limit);
  }
}

async function doEach(database: Database, backfill: Backfill, limit: number): Promise<BackfillRun> {
  let run = await doPage(database, backfill, 1);
  for (let left = limit - 1; left > 0 && run.status === 'running'; left--) run = await doPage(database, backfill, 1);
  return run;
}

async function complete(unit: UnitOfWork, run: BackfillRun): Promise<BackfillRun> {
  const completed = await unit.data.update(backfillRun, run.id, { status: 'completed', completedAt: unit.clock.now() });
  const { routine, version, changedRecords: changed } = completed;
  unit.emit(
    customEvent(backfillRun, 'completed', completed, {
      routine,
      version,
      changed,
      failed: failuresOf(completed).length,
    }),
  );
  return completed;
}

/** Keeps why a record fails, and moves behind it, if it is still the next one: another worker may have done it meanwhile. */
function skipRecord(database: Database, backfill: Backfill, failed: string, error: unknown): Promise<BackfillRun> {
  return withRun(database, backfill, async (unit, run) => {
    const [id] = await backfill.find(unit, { after: run.position ?? firstId, limit: 1 });
    if (id !== failed) return run;
    const failures = [...failuresOf(run), { id, reason: reasonOf(error) }];
    if (failures.length > maxFailures)
      throw new Error(`More than ${maxFailures} records of the backfill ${backfill.name} fail.`, { cause: error });
    return unit.data.update(backfillRun, run.id, {
      position: id,
      examinedRecords: run.examinedRecords + 1,
      failures,
    });
  });
}

/** Tries the records again that have failed, each alone. @returns undefined when this version of the backfill has no run */
export async function repeatFailures(database: Database, backfill: Backfill): Promise<BackfillRun | undefined> {
  const known = await inUnit(database, backfill, (unit) => findRun(unit, backfill));
  if (!known) return undefined;
  let run = known;
  for (const { id } of failuresOf(known)) {
    const without = (held: BackfillRun) => failuresOf(held).filter((failure) => failure.id !== id);
    try {
      run = await withRun(database, backfill, async (unit, held) => {
        const changed = await backfill.apply(unit, [id]);
        const changedRecords = held.changedRecords + changed;
        return unit.data.update(backfillRun, held.id, { failures: without(held), changedRecords });
      });
    } catch (error) {
      if (isTransient(error)) throw error;
      run = await withRun(database, backfill, (unit, held) =>
        unit.data.update(backfillRun, held.id, { failures: [...without(held), { id, reason: reasonOf(error) }] }),
      );
    }
  }
  return run;
}

/** Whether the reason is in the database or in others who use it, and not in a record. */
function isTransient(error: unknown): boolean {
  if (!isAppError(error)) return false;
  return ['unavailable', 'timeout', 'limited'].includes(error.category) || error.code === 'concurrent_changes';
}

function reasonOf(error: unknown): string {
  return shortened(error instanceof Error ? error.message : String(error), maxReason);
}
