import { failuresOf, repeatFailures, type BackfillRun } from '#activities/backfills/backfill-page.ts';
import { releaseBackfills } from '#activities/backfills/release-backfills.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { backfillRun } from '#entities/organizations/backfill-run.ts';
import type { Backfill } from '#activities/backfills/define-backfill.ts';
import { ArgumentError, type Tool, type ToolContext } from './tool.ts';

/** A command about backfills, as an operator types it. */
export type BackfillsCommand = { readonly name: 'list' } | { readonly name: 'retry'; readonly backfill: Backfill };

export const backfillsTool: Tool<Readonly<Record<string, never>>, BackfillsCommand> = {
  name: 'backfills',
  needs: 'The database',
  options: {},
  commands: {
    list: {
      usage: [['list', 'each backfill of this release, its runs, and the records that failed']],
      read: () => ({ name: 'list' }),
    },
    retry: {
      usage: [['retry NAME', 'tries the records again that failed, each alone']],
      operand: 'name',
      read: ({ operands: [name = ''] }) => {
        const backfill = releaseBackfills.find((one) => one.name === name);
        if (!backfill)
          throw new ArgumentError(
            `no backfill "${name}"; there are ${releaseBackfills.map((one) => one.name).join(', ')}`,
          );
        return { name: 'retry', backfill };
      },
    },
  },
};

const notRun = '  has not run yet';

/** More versions of one backfill than any release has. */
const maxRuns = 1_000;

/** @returns whether no record failed @throws AppError */
export async function runBackfillsCommand(
  command: BackfillsCommand,
  { runtime: { database, config }, print }: ToolContext<'database' | 'config'>,
): Promise<boolean> {
  const printRun = (run: BackfillRun) => {
    print(`  version ${run.version}: ${run.status}, ${run.examinedRecords} examined, ${run.changedRecords} changed`);
    for (const { id, reason } of failuresOf(run)) print(`    ${id} failed: ${reason}`);
  };
  if (command.name === 'retry') {
    const run = await repeatFailures(database, command.backfill);
    print(command.backfill.name);
    if (run) printRun(run);
    else print(notRun);
    return !run || failuresOf(run).length === 0;
  }
  const context = { caller: systemCaller('operator of backfills'), requestId: `backfills-${newId()}`, readOnly: true };
  const runs = await database.transact(context, ({ data }) => data.find(backfillRun, { where: {}, limit: maxRuns }));
  let hasFailures = false;
  for (const { name, description, isWanted } of releaseBackfills) {
    print(`${name}: ${description}${isWanted(config.current) ? '' : ' Not wanted by the configuration.'}`);
    const own = runs.filter(({ routine }) => routine === name);
    if (own.length === 0) print(notRun);
    for (const run of own) {
      printRun(run);
      hasFailures ||= failuresOf(run).length > 0;
    }
  }
  return !hasFailures;
}
