import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { WorkContext } from '#entities/kit/model/work-context.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SweepPage, SweptPage } from '#workflows/kit/sweep-contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { notifyOperator } from '../events/notify-operator.ts';
import { isOutage } from '../events/listener-transaction.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sweepTime } from '../kit/sweep-time.ts';
import type { Sweep, SweepDecision } from './define-sweep.ts';
import { SweepTally } from './sweep-tally.ts';

const pageSize = 100;

const gone: SweepDecision = { action: null, reason: 'changed meanwhile' };
const beyondLimit: SweepDecision = { action: null, reason: 'the limit of a run was reached' };

export type SweepDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'logger' | 'onSwept' | 'temporal'>;

/**
 * Handles one page of a sweep, and ends it when half of its time is over. A record that fails is counted and logged, and the others
 * continue. In an outage, the page ends with what was done before it, so that a repeated attempt counts each record once.
 * @throws AppError when the database is unavailable
 */
export async function sweepPage(deps: SweepDependencies, sweep: Sweep, page: SweepPage): Promise<SweptPage> {
  const endsAt = Date.now() + (page.timeoutMs ?? Infinity) / 2;
  const { config, database, logger } = deps;
  const { limited } = sweep;
  const settings = sweep.settings?.(config.current) ?? {};
  const isDryRun = page.isDryRun === true || settings.isDryRun === true;
  const { maxExamined = Infinity, maxDone = Infinity, maxLimited = Infinity, actionTimeoutMs } = settings;
  const present = sweepTime(deps);
  const now = page.isDryRun === true && page.at !== undefined ? new Date(page.at) : present;
  const context = { now, config: config.current, isForesight: now > present };
  const tally = new SweepTally(isDryRun, page.report);
  // The time is in the input of all pages with actions, so that a repeated attempt has it.
  const { run } = page;
  if ((limited || sweep.reports) && !run) {
    const startedAt = database.options.clock.now().toISOString();
    const { isEnabled } = settings;
    const begun = { startedAt, taken: 0, ...(isEnabled === undefined ? {} : { isEnabled }) };
    return { report: tally.report, next: page.after ?? [], run: begun };
  }
  let taken = run?.taken ?? 0;
  let isExhausted = false;
  const transact = <T>(more: Partial<WorkContext>, work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
    database.transact(
      { ...workContext(systemCaller(`sweep ${sweep.name}`), `${sweep.name}-${newId()}`), ...more },
      work,
    );

  /** Decides again about a record that is locked, and acts. */
  const act = (id: string): Promise<SweepDecision> =>
    transact(actionTimeoutMs === undefined ? {} : { deadline: Date.now() + actionTimeoutMs }, async (unit) => {
      if ((await sweep.lock(unit, id)) === undefined) return gone;
      const [facts] = await sweep.find(unit, { ...context, limit: 1, only: id });
      if (!facts) return gone;
      const decided = sweep.decide(facts, context);
      if (decided.action === null) return decided;
      if (
        run &&
        decided.action === limited?.action &&
        (await limited.countSince(unit, new Date(run.startedAt))) >= maxLimited
      )
        return beyondLimit;
      await sweep.act(unit, facts, decided.action, { ...context, acted: tally.actions });
      return decided;
    });

  const limit = Math.min(pageSize, maxExamined - tally.report.examined);
  const { after } = page;
  const found =
    limit > 0
      ? await transact({ readOnly: true }, (unit) =>
          sweep.find(unit, { ...context, limit, ...(after ? { after } : {}) }),
        )
      : [];
  const swept = (next?: readonly string[]): SweptPage => ({
    report: tally.report,
    ...(next ? { next } : {}),
    ...(next && run ? { run: { ...run, taken } } : {}),
  });
  // An operator who turns a sweep off stops a run that is under way. One that was begun by hand while the sweep is off continues.
  const isTurnedOff = () => run?.isEnabled === true && sweep.settings?.(config.current).isEnabled === false;
  const isOver = () => tally.actions >= maxDone || tally.report.examined >= maxExamined || isTurnedOff();
  let last: readonly string[] | undefined;
  let left = found.length;
  for (const facts of found) {
    if (isOver() || (last && Date.now() >= endsAt)) break;
    try {
      const decided = sweep.decide(facts, context);
      const isLimited = limited?.action === decided.action;
      if (decided.action === null) tally.settled(decided);
      else if (isLimited && (isExhausted || taken >= maxLimited)) {
        tally.settled(beyondLimit);
        tally.limited();
      } else if (isDryRun) {
        const { id, organizationId } = facts;
        const { action, reason } = decided;
        tally.planned({ id, ...(organizationId == null ? {} : { organizationId }), action, reason });
        if (isLimited) taken += 1;
        // The report has the first of them only.
        logger.info(
          { sweep: sweep.name, record_id: id, organization_id: organizationId, action, reason },
          'a dry run would act on a record',
        );
      } else {
        const done = await act(facts.id);
        if (done.action !== null) failpoint('sweep-acted', sweep.name);
        // Rows show what was done before a crash, and this number what was done while the clock was set back.
        if (isLimited && done.action === limited.action) taken += 1;
        tally.settled(done);
        if (done === beyondLimit) {
          isExhausted = true;
          tally.limited();
        }
      }
    } catch (error) {
      if (isOutage(error)) {
        if (last === undefined) throw error;
        return swept(last);
      }
      logger.error({ err: error, sweep: sweep.name, record_id: facts.id }, 'a sweep failed on a record');
      tally.failed();
    }
    last = sweep.position?.(facts) ?? [facts.id];
    left -= 1;
  }
  if (found.length === limit || left > 0) {
    if (!isOver() && last) return swept(last);
    tally.limited();
  }
  const { report } = tally;
  logger.info({ sweep: sweep.name, ...report }, 'a sweep ended');
  deps.onSwept(sweep.name, report);
  // Also after an attempt that did nothing: the one before it may have died after its actions. Rows say what the run has done.
  if (sweep.reports && run && !isDryRun) await notifyOperator(deps, run.startedAt, sweep.reports(run.startedAt));
  return swept();
}
