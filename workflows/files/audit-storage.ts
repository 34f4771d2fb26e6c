import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { AuditedPage, StorageActivities } from '#activities/files/storage-activities.ts';
import type { AuditedPlace, AuditReport, AuditStorageInput } from './audit-storage.contract.ts';
import { restoreChildren } from './restore-children.ts';
import type { RestoredObject } from './restore-files.contract.ts';
import { statementOptions, transferOptions } from './transfer-options.ts';

/** A page of which nothing is missing takes about ten events of the history. */
const defaultPagesPerRun = 500;

/** Objects to restore after which a run continues as new as well. */
const maxRestored = 1_000;

/** Most lines of each sort that the report names. */
const maxSamples = 100;

const emptyReport: AuditReport = {
  rows: 0,
  listed: 0,
  missing: 0,
  restored: 0,
  lost: [],
  missingCopies: 0,
  unknown: 0,
  unknownKeys: [],
  unreachable: [],
};

export async function auditStorage(input: AuditStorageInput): Promise<AuditReport> {
  const { queue, pagesPerRun = defaultPagesPerRun } = input;
  const { placesToAudit, reportAudit } = proxyActivities<StorageActivities>(statementOptions(queue));
  const { auditPage } = proxyActivities<StorageActivities>(transferOptions(queue));
  let { after = '', report = emptyReport } = input;
  setHandler(defineQuery<AuditReport>('progress'), () => report);
  let places: readonly AuditedPlace[] = input.places ?? (await placesToAudit());
  for (let pages = 0, missing = 0; pages < pagesPerRun && missing < maxRestored; pages++) {
    const [place, ...others] = places;
    if (!place) {
      await reportAudit(report);
      return report;
    }
    const page = await auditPage({ place, after });
    const restored = await restoreChildren(queue, page.missing);
    report = withPage(report, page, restored);
    missing += page.missing.length;
    after = page.next ?? '';
    if (page.next === null) places = others;
  }
  return continueAsNew<typeof auditStorage>({ ...input, places, after, report });
}

function withPage(report: AuditReport, page: AuditedPage, outcomes: readonly RestoredObject[]): AuditReport {
  const lost = outcomes.filter(({ outcome }) => outcome !== 'restored' && outcome !== 'intact');
  const restored = outcomes.filter(({ outcome }) => outcome === 'restored');
  return {
    rows: report.rows + page.rows,
    listed: report.listed + page.listed,
    missing: report.missing + page.missing.length,
    restored: report.restored + restored.length,
    lost: [...report.lost, ...lost].slice(0, maxSamples),
    missingCopies: report.missingCopies + page.missingCopies,
    unknown: report.unknown + page.unknown,
    unknownKeys: [...report.unknownKeys, ...page.unknownKeys].slice(0, maxSamples),
    unreachable: page.unreachable === undefined ? report.unreachable : [...report.unreachable, page.unreachable],
  };
}
