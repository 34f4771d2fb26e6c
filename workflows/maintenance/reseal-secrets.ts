import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { ResealInput, ResealReport, ResealedSecrets } from './reseal-secrets.contract.ts';

/** A page takes about six events of the history. */
const defaultPagesPerRun = 1_000;

/** Most values that the report names. */
const maxSamples = 100;

const emptyReport: ResealReport = { checked: 0, resealed: 0, unreadable: 0, samples: [], isComplete: false };

/** Page by page, each in a short transaction of its own. */
export async function resealSecrets(input: ResealInput): Promise<ResealReport> {
  const { resealSecrets: page } = proxyActivities<MaintenanceActivities>(activityOptions(input.queue));
  const { pagesPerRun = defaultPagesPerRun } = input;
  let { cursor, report = emptyReport } = input;
  setHandler(defineQuery<ResealReport>('progress'), () => report);
  for (let pages = 0; pages < pagesPerRun; pages++) {
    const done = await page(cursor ? { cursor } : {});
    report = withPage(report, done);
    if (done.next === null) return { ...report, isComplete: report.unreadable === 0 };
    cursor = done.next;
  }
  return continueAsNew<typeof resealSecrets>({ ...input, ...(cursor ? { cursor } : {}), report });
}

function withPage(report: ResealReport, { field, checked, resealed, unreadable }: ResealedSecrets): ResealReport {
  return {
    ...report,
    checked: report.checked + checked,
    resealed: report.resealed + resealed,
    unreadable: report.unreadable + unreadable.length,
    samples: [...report.samples, ...unreadable.map((id) => `${field} ${id}`)].slice(0, maxSamples),
  };
}
