import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '#config/objects/root.ts';
import { lackOf, mayHelpToWait, migrate, migrationState, refuseUnknown } from '#migrations/migrator.ts';
import { prepareSecondDatabase, whySecondIsNotReady } from '#migrations/prepare-second-database.ts';
import { StartError } from '#runtime/start-error.ts';

const pauseMs = 500;

/**
 * Runs pending migrations and prepares the second database (`db.runmigrations`), or checks that nothing is left to do. Waits for PostgreSQL up to
 * `server.shutdowngraceperiod`, because it may start later than the API.
 * @throws StartError when migrations are pending; AppError database_unavailable, schema_too_new
 */
export async function prepareDatabase({ db, server }: Config, logger: Logger): Promise<void> {
  const giveUpAt = Date.now() + server.shutdowngraceperiod;
  let isWaiting = false;
  for (;;) {
    try {
      await (db.runmigrations ? bringUp(db, logger) : requireCurrent(db));
      return;
    } catch (error) {
      if (!mayHelpToWait(error) || Date.now() > giveUpAt) throw error;
      if (!isWaiting) logger.warn(`${error.message} Waiting.`);
      isWaiting = true;
      await pause(pauseMs);
    }
  }
}

async function bringUp(db: Config['db'], logger: Logger): Promise<void> {
  for (const url of [db.primarydbsource, ...(db.multiwrite ? [db.secondarydbsource] : [])]) {
    const ran = await migrate(url);
    if (ran.length > 0) logger.info({ migrations: ran }, 'migrations ran');
  }
  await prepareSecondDatabase(db, (message) => logger.info(message));
}

async function requireCurrent(db: Config['db']): Promise<void> {
  const state = await migrationState(db.primarydbsource);
  refuseUnknown(state.unknown);
  const reason = lackOf(state) ?? (await whySecondIsNotReady(db))?.replace(/\.$/, '');
  if (reason !== undefined) throw new StartError(`${reason}: run "npm run migrate", or turn db.runmigrations on.`);
}
