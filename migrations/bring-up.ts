import type { Config } from '#config/objects/root.ts';
import { migrate, migrationState, refuseUnknown } from './migrator.ts';
import { schemaHook } from './registered-hook.ts';

/**
 * Brings the configured database, and those that get the same schema, to that of this program.
 * @param told what ran, and what takes time
 * @throws AppError, see `migrate`
 */
export async function bringUp(
  db: Config['db'],
  told: { readonly ran: (migrations: readonly string[]) => void; readonly doing: (message: string) => void },
): Promise<void> {
  for (const url of [db.primarydbsource, ...schemaHook.furtherUrls(db)]) told.ran(await migrate(url));
  await schemaHook.afterMigrations(db, told.doing);
}

/**
 * @returns what the configured database lacks, as a sentence; undefined when nothing
 * @throws AppError schema_too_new; database_unavailable, with `retryAfterSeconds` where waiting may help
 */
export async function whyNotCurrent(db: Config['db']): Promise<string | undefined> {
  const state = await migrationState(db.primarydbsource);
  refuseUnknown(state.unknown);
  const lack = Object.entries({
    migrations: state.pending,
    functions: state.staleFunctions,
    'triggers of': state.staleTriggers,
  }).flatMap(([what, names]) => (names.length > 0 ? `the ${what} ${names.join(', ')}` : []));
  return lack.length > 0 ? `The database lacks ${lack.join(' and ')}.` : schemaHook.whyNotReady(db);
}
