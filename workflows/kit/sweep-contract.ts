import type { ActivityQueue } from './activity-queue.ts';
import type { WorkflowContract } from './contract.ts';

/** Result of a run of a sweep. */
export interface SweepReport {
  /** Nothing was changed. */
  readonly isDryRun: boolean;
  /** Records that were looked at: the sum of those that were done, skipped and failed. */
  readonly examined: number;
  readonly done: number;
  readonly failed: number;
  /** Number of skipped records for each reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** The configuration has ended the run, by a limit or because the sweep was turned off; there may be more records. */
  readonly hasMore: boolean;
  /** Actions that a dry run would take: the first thousand. The log of the worker has all; `skipped` counts all. */
  readonly planned: readonly PlannedAction[];
}

export interface PlannedAction {
  readonly id: string;
  /** Organization of the record; absent if it has none. */
  readonly organizationId?: string;
  readonly action: string;
  readonly reason: string;
}

/** State of a run that its pages hand on to each other. */
export interface LimitedRun {
  /** When it began (RFC 3339), by the clock of the server. */
  readonly startedAt: string;
  /** How many times its pages have taken the limited action, or would have in a dry run. */
  readonly taken: number;
  /** The configuration had the sweep on when it began. */
  readonly isEnabled?: boolean;
}

/** A page that a run of a sweep asks for. */
export interface SweepPage {
  /** Decides, and changes nothing. */
  readonly isDryRun?: boolean;
  /** Instant that a dry run takes as now (RFC 3339). */
  readonly at?: string;
  /** Where the page before it ended, and what the run had done until then. */
  readonly after?: readonly string[];
  readonly report?: SweepReport;
  readonly run?: LimitedRun;
  /** Longest attempt, in milliseconds: the page ends at half of it. */
  readonly timeoutMs?: number;
}

/** The reason for which a dry run skips what it would have done. */
export const dryRunReason = 'dry run';

export interface SweepInput extends SweepPage {
  readonly queue: ActivityQueue;
  /** Pages after which a run continues as new, if Temporal does not suggest it before; 500 when left out. */
  readonly pagesPerRun?: number;
}

export interface SweptPage {
  readonly report: SweepReport;
  /** Where the next page begins; undefined after the last one. */
  readonly next?: readonly string[];
  readonly run?: LimitedRun;
}

/** Answer of the query: what the run has done so far. */
export const sweepProgressQuery = 'progress';

/** Every sweep has a workflow type of its own, with its name (`sweepRecords`). Its schedule has the same name in kebab-case. */
export function sweepContract({
  name,
  queue,
  every,
}: {
  readonly name: string;
  readonly queue: string;
  readonly every: number | string;
}): WorkflowContract<SweepInput> {
  const schedule = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    name,
    queue,
    workflowId: ({ isDryRun = false, at = 'now' }) => (isDryRun ? `${schedule}/dry-run/${at}` : schedule),
    schedule: { every },
  };
}
