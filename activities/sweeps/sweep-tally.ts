import { dryRunReason, type PlannedAction, type SweepReport } from '#workflows/kit/sweep-contract.ts';
import type { SweepDecision } from './define-sweep.ts';

/** Most actions of a dry run that are named. */
const maxPlanned = 1_000;

/** Counts what a run does: each record that is examined is done, skipped or failed. */
export class SweepTally {
  #report: SweepReport;

  /** @param before what the pages before have done */
  constructor(isDryRun: boolean, before: SweepReport | undefined) {
    this.#report = before ?? {
      isDryRun,
      examined: 0,
      done: 0,
      failed: 0,
      skipped: {},
      hasMore: false,
      planned: [],
    };
  }

  get report(): SweepReport {
    return this.#report;
  }

  /** Actions that were taken, or would have been. */
  get actions(): number {
    return this.#report.done + (this.#report.skipped[dryRunReason] ?? 0);
  }

  /** @param decided what was done, or why it was not */
  settled({ action, reason }: SweepDecision): void {
    if (action === null) this.#skip(reason);
    else this.#count({ done: this.#report.done + 1 });
  }

  planned(action: PlannedAction): void {
    const { planned } = this.#report;
    this.#skip(dryRunReason);
    if (planned.length < maxPlanned) this.#report = { ...this.#report, planned: [...planned, action] };
  }

  failed(): void {
    this.#count({ failed: this.#report.failed + 1 });
  }

  limited(): void {
    this.#report = { ...this.#report, hasMore: true };
  }

  #skip(reason: string): void {
    const { skipped } = this.#report;
    this.#count({ skipped: { ...skipped, [reason]: (skipped[reason] ?? 0) + 1 } });
  }

  #count(counted: Partial<SweepReport>): void {
    this.#report = { ...this.#report, ...counted, examined: this.#report.examined + 1 };
  }
}
