import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { AuthorizationActivities, ReconciledPage } from '#activities/authorization/authorization-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { ReconcileInput, ReconciliationReport } from './reconcile-authorization.contract.ts';

/** A page is about ten events of the history. */
const usualPagesPerRun = 1_000;

/** Most repairs that the report names. */
const maxSamples = 100;

const nothing: ReconciliationReport = {
  checked: { rows: 0, desired: 0, stored: 0 },
  repaired: [],
  counts: { notDesired: 0, unfounded: 0, notStored: 0, onlyStored: 0 },
};

/** Page by page, each a short transaction of its own; what is repaired in one is right by itself. */
export async function reconcileAuthorization(input: ReconcileInput): Promise<ReconciliationReport> {
  const { reconcilePage, applyRepairs } = proxyActivities<AuthorizationActivities>(activityOptions(input.queue));
  const { pagesPerRun = usualPagesPerRun } = input;
  let { place, report = nothing } = input;
  for (let pages = 0; pages < pagesPerRun; pages++) {
    const page = await reconcilePage(place ? { place } : {});
    report = withPage(report, page);
    if (page.next === null) {
      await applyRepairs();
      return report;
    }
    place = page.next;
  }
  return continueAsNew<typeof reconcileAuthorization>({ ...input, ...(place ? { place } : {}), report });
}

function withPage({ checked, repaired, counts }: ReconciliationReport, page: ReconciledPage): ReconciliationReport {
  const found = page.repaired;
  const counted = { ...counts };
  for (const { was } of found) counted[was] += 1;
  return {
    checked: { ...checked, [page.checked.what]: checked[page.checked.what] + page.checked.count },
    repaired: [...repaired, ...found].slice(0, maxSamples),
    counts: counted,
  };
}
