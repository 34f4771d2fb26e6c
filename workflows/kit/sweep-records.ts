import { continueAsNew, defineQuery, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { activityOptions } from './activity-queue.ts';
import {
  sweepProgressQuery,
  type SweepInput,
  type SweepPage,
  type SweepReport,
  type SweptPage,
} from './sweep-contract.ts';

/** A page takes about six events of the history; the ids in the report of a dry run make them large. */
const defaultPagesPerRun = 500;

/** The workflow of a sweep: it goes from page to page. Its activity has the name of the sweep. */
export function sweepRecords(name: string) {
  return async (input: SweepInput): Promise<SweepReport> => {
    const { queue, pagesPerRun = defaultPagesPerRun, ...given } = input;
    const first = { ...given, timeoutMs: queue.attemptTimeoutMs };
    // A run makes few attempts, because the schedule starts the next one.
    const options = { ...activityOptions(queue), retry: { maximumAttempts: 3 } };
    const activities = proxyActivities<Record<string, (page: SweepPage) => Promise<SweptPage>>>(options);
    let page: SweepPage = first;
    setHandler(defineQuery<SweepReport | undefined>(sweepProgressQuery), () => page.report);
    for (let pages = 0; pages < pagesPerRun && !workflowInfo().continueAsNewSuggested; pages++) {
      const { report, next, run } = await (activities[name] as (page: SweepPage) => Promise<SweptPage>)(page);
      if (!next) return report;
      page = { ...first, after: next, report, ...(run ? { run } : {}) };
    }
    return continueAsNew<(next: SweepInput) => Promise<SweepReport>>({ ...input, ...page });
  };
}
