import { parseArgs } from 'node:util';
import { configFileArgument, loadConfiguration } from '#config/reading/load-configuration.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { bringUp } from './bring-up.ts';
import { lockingStatements } from './locking-statements.ts';
import { createMigration, migrate, migrationState } from './migrator.ts';

const usage = `usage: npm run migrate                  bring the configured database to this program's schema
       npm run migrate -- status        what ran and what is to run
       npm run migrate:new -- NAME      write a migration from the difference between the entities and the database
       each with --config FILE or --url postgres://…`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, config: { type: 'string' }, help: { type: 'boolean' } },
});
// `npm run migrate -- status` arrives as `up status`.
const [first = 'up', second] = positionals;
const [command, name] = first === 'up' && second ? [second, undefined] : [first, second];
if (values.help) {
  console.log(usage);
  process.exit();
}

try {
  await (values.url === undefined ? runConfigured() : run(values.url));
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function run(url: string): Promise<void> {
  if (command === 'up') {
    tellRan(await migrate(url));
  } else if (command === 'status') {
    const state = await migrationState(url);
    console.log(`executed: ${listOf(state.executed)}\npending: ${listOf(state.pending)}`);
    console.log(`functions to create: ${listOf(state.staleFunctions)}`);
    console.log(`tables whose triggers are to be created: ${listOf(state.staleTriggers)}`);
    for (const migration of state.pending) await tellLocks(migration);
    if (state.unknown.length > 0) console.log(`unknown to this version: ${state.unknown.join(', ')}`);
  } else if (command === 'new' && name) {
    const file = await createMigration(url, name);
    console.log(file ? `Wrote migrations/${file}.` : 'The entities and the database agree; there is nothing to write.');
  } else {
    console.error(usage);
    process.exitCode = 2;
  }
}

function listOf(names: readonly string[]): string {
  return names.join(', ') || 'none';
}

function tellRan(migrations: readonly string[]): void {
  console.log(migrations.length === 0 ? 'The schema is up to date.' : `Ran ${migrations.join(', ')}.`);
}

/** An operator with large tables wants to know before. */
async function tellLocks(migration: string): Promise<void> {
  for (const { table, statement, remark } of await lockingStatements(migration))
    console.log(`${migration} locks ${table}: ${remark}.\n  ${statement.slice(0, 160)}`);
}

async function runConfigured(): Promise<void> {
  const { config } = await loadConfiguration({ file: configFileArgument(process.argv.slice(2)) }).catch(
    exitOnConfigurationError,
  );
  if (command === 'up') await bringUp(config.db, { ran: tellRan, doing: console.log });
  else await run(config.db.primarydbsource);
}
