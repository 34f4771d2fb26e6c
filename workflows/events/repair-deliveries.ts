import { condition, continueAsNew, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { EventActivities } from '#activities/events/event-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import {
  repairProgressQuery,
  stopRepairSignal,
  type RepairDeliveriesInput,
  type RepairReport,
} from './repair-deliveries.contract.ts';

const stopRepair = defineSignal(stopRepairSignal);
const progress = defineQuery<RepairReport>(repairProgressQuery);

/** A page is about twelve events of the history. */
const defaultPagesPerRun = 200;

/** Deliveries of one page: those of a few seconds, so that a stop is soon obeyed. */
const maxPage = 100;
const secondsOfPage = 2;

/**
 * Goes through the failing deliveries of a selection from the oldest on, each once, no faster than asked. A retried delivery that fails
 * again stays failing. Every delivery keeps its own workflow (`deliverEvent`), which gets the command as a signal.
 */
export async function repairDeliveries(input: RepairDeliveriesInput): Promise<RepairReport> {
  const { queue, repairId, operation, selection, asked, isDryRun, perSecond, pagesPerRun = defaultPagesPerRun } = input;
  const { countToRepair, recordRepair, deliveriesToRepair, repairPage } = proxyActivities<EventActivities>(
    activityOptions(queue),
  );
  const limit = Math.max(1, Math.min(maxPage, Math.floor(perSecond * secondsOfPage)));
  let isStopped = false;
  let { after, report } = input;
  setHandler(stopRepair, () => {
    isStopped = true;
  });
  setHandler(progress, () => report ?? { selected: 0, groups: [], repaired: 0, isStopped });

  if (!report) {
    const { total, groups } = await countToRepair(selection);
    report = { selected: total, groups, repaired: 0, isStopped: false };
    if (isDryRun) return report;
    await recordRepair({ repairId, operation, selection, ...asked });
  }
  for (let pages = 0; pages < pagesPerRun; pages++) {
    if (isStopped) return { ...report, isStopped };
    const positions = await deliveriesToRepair({ selection, limit, ...(after ? { after } : {}) });
    if (positions.length > 0)
      report = {
        ...report,
        repaired: report.repaired + (await repairPage({ repairId, operation, positions, states: selection.states })),
      };
    if (positions.length < limit) return { ...report, isStopped };
    after = positions.at(-1);
    await condition(() => isStopped, Math.ceil((limit * 1_000) / perSecond));
  }
  if (isStopped) return { ...report, isStopped };
  return continueAsNew<typeof repairDeliveries>({ ...input, ...(after ? { after } : {}), report });
}
