import { releaseSweeps } from '#activities/sweeps/release-sweeps.ts';
import type { Sweep } from '#activities/sweeps/define-sweep.ts';
import { parseDayOrInstant } from '#entities/kit/base/instant.ts';
import { dryRunReason, sweepContract, type SweepInput, type SweepReport } from '#workflows/kit/sweep-contract.ts';
import { followWorkflow } from './follow-workflow.ts';
import { ArgumentError, type CommandForm, type Tool, type ToolContext } from './tool.ts';

/** A run of a sweep, as an operator asks for it. */
export interface SweepCommand {
  readonly sweep: Sweep;
  readonly isDryRun: boolean;
  readonly at: string | undefined;
}

const options = { 'dry-run': 'boolean', at: 'string' } as const;

/** One command for each sweep, with the name of its schedule. */
export const sweepTool: Tool<typeof options, SweepCommand> = {
  name: 'sweep',
  needs: 'Database, Temporal and a worker',
  options,
  commands: Object.fromEntries(
    releaseSweeps.map((sweep) => [sweepContract(sweep).workflowId({}), commandOf(sweep)] as const),
  ),
  notes: `  --dry-run                  changes nothing, and prints what would be done
  --at DAY                   what a dry run takes as now: a day such as 2027-01-31, which begins in UTC, or an instant (RFC 3339)`,
};

function commandOf(sweep: Sweep): CommandForm<typeof options, SweepCommand> {
  return {
    usage: [[`${sweepContract(sweep).workflowId({})} [--dry-run]`, sweep.description]],
    options: ['dry-run', 'at'],
    read: ({ values: { 'dry-run': isDryRun = false, at } }) => {
      if (at !== undefined && !isDryRun) throw new ArgumentError('--at is for dry runs; add --dry-run');
      const instant = at === undefined ? undefined : parseDayOrInstant(at);
      if (at !== undefined && !instant)
        throw new ArgumentError(`--at is a day such as 2027-01-31, or an instant (RFC 3339), not "${at}"`);
      return { sweep, isDryRun, at: instant?.toISOString() };
    },
  };
}

/** Runs a sweep now, and prints what it has done. @returns whether no record failed @throws AppError workflows_unavailable */
export async function runSweepCommand(
  { sweep, isDryRun, at }: SweepCommand,
  { runtime, print, progressEveryMs }: ToolContext<'temporal'>,
): Promise<boolean> {
  const input = { isDryRun, ...(at === undefined ? {} : { at }) };
  const report = await followWorkflow<SweepReport, SweepInput>(sweepContract(sweep), input, {
    temporal: runtime.temporal,
    print,
    progressEveryMs,
    progressLine: ({ examined, done, failed }) => `${examined} examined, ${done} done, ${failed} failed`,
  });
  for (const { id, organizationId, action, reason } of report.planned)
    print(`${id}${organizationId === undefined ? '' : `  organization ${organizationId}`}: ${action} (${reason})`);
  const unnamed = (report.skipped[dryRunReason] ?? 0) - report.planned.length;
  if (unnamed > 0) print(`${unnamed} more; the log of the worker names all: "a dry run would act on a record"`);
  print(
    `${report.examined} examined, ${report.done} done, ${report.failed} failed${report.hasMore ? '; the configuration has ended the run' : ''}`,
  );
  for (const [reason, count] of Object.entries(report.skipped)) print(`${count} skipped: ${reason}`);
  return report.failed === 0;
}
