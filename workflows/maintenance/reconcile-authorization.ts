import { continueAsNew, proxyActivities } from '@temporalio/workflow';
import type { AuthorizationActivities, ReconciledPage } from '#activities/authorization/authorization-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { ReconcileInput, ReconciliationReport } from './reconcile-authorization.contract.ts';

/** A page takes about ten events of the history. */
const defaultPagesPerRun = 1_000;

/** Most repairs that the report names. */
const maxSamples = 100;

const emptyReport: ReconciliationReport = {
  checked: { rows: 0, desired: 0, stored: 0 },
  repaired: [],
  counts: { notDesired: 0, orphaned: 0, notStored: 0, onlyStored: 0 },
};

/** Reconciles page by page, each in a short transaction of its own, whose repairs are complete by themselves. */
export async function reconcileAuthorization(input: ReconcileInput): Promise<ReconciliationReport> {
  const { reconcilePage, applyRepairs } = proxyActivities<AuthorizationActivities>(activityOptions(input.queue));
  const { pagesPerRun = defaultPagesPerRun } = input;
  let { cursor, report = emptyReport } = input;
  for (let pages = 0; pages < pagesPerRun; pages++) {
    const page = await reconcilePage(cursor ? { cursor } : {});
    report = withPage(report, page);
    if (page.next === null) {
      await applyRepairs();
      return report;
    }
    cursor = page.next;
  }
  return continueAsNew<typeof reconcileAuthorization>({ ...input, ...(cursor ? { cursor } : {}), report });
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
