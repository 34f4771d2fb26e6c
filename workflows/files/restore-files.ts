import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { StorageActivities } from '#activities/files/storage-activities.ts';
import type { RestoreFilesInput, RestoreReport } from './restore-files.contract.ts';
import { emptyRestoreReport, restoreChildren, withRestored } from './restore-children.ts';
import { statementOptions, transferOptions } from './transfer-options.ts';

/** A page of a hundred objects of which all are restored takes about nine hundred events of the history. */
const defaultPagesPerRun = 10;

export async function restoreFiles(input: RestoreFilesInput): Promise<RestoreReport> {
  const { queue, which, asked, pagesPerRun = defaultPagesPerRun } = input;
  const { recordOperation } = proxyActivities<StorageActivities>(statementOptions(queue));
  const { objectsToRestore } = proxyActivities<StorageActivities>(transferOptions(queue));
  let { after, report = emptyRestoreReport } = input;
  setHandler(defineQuery<RestoreReport>('progress'), () => report);
  if (after === undefined) await recordOperation({ operation: `restore-${which}`, objectId: null, ...asked });
  for (let pages = 0; pages < pagesPerRun; pages++) {
    const page = await objectsToRestore({ which, after: after ?? '' });
    const outcomes = await restoreChildren(queue, page.objectIds);
    const unreadable = (page.unreadable ?? []).map((objectId) => ({ objectId, outcome: 'error' as const }));
    report = withRestored(report, page.examined, [...outcomes, ...unreadable]);
    if (page.next === null) return report;
    after = page.next;
  }
  return continueAsNew<typeof restoreFiles>({ ...input, ...(after === undefined ? {} : { after }), report });
}
