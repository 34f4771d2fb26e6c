import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '#config/objects/root.ts';
import { mayHelpToWait, migrate, migrationState, refuseUnknown } from '#migrations/migrator.ts';
import { StartError } from '#runtime/start-error.ts';

const pauseMs = 500;

/**
 * Runs pending migrations (`db.runmigrations`), or checks that there are none. Waits for PostgreSQL up to
 * `server.shutdowngraceperiod`, because it may start later than the API.
 * @throws StartError when migrations are pending; AppError database_unavailable, schema_too_new
 */
export async function prepareDatabase({ db, server }: Config, logger: Logger): Promise<void> {
  const giveUpAt = Date.now() + server.shutdowngraceperiod;
  let isWaiting = false;
  for (;;) {
    try {
      await (db.runmigrations ? bringUp(db.primarydbsource, logger) : requireCurrent(db.primarydbsource));
      return;
    } catch (error) {
      if (!mayHelpToWait(error) || Date.now() > giveUpAt) throw error;
      if (!isWaiting) logger.warn(`${error.message} Waiting.`);
      isWaiting = true;
      await pause(pauseMs);
    }
  }
}

async function bringUp(url: string, logger: Logger): Promise<void> {
  const ran = await migrate(url);
  if (ran.length > 0) logger.info({ migrations: ran }, 'migrations ran');
}

async function requireCurrent(url: string): Promise<void> {
  const { pending, unknown } = await migrationState(url);
  refuseUnknown(unknown);
  if (pending.length > 0)
    throw new StartError(
      `The database lacks the migrations ${pending.join(', ')}: run "npm run migrate", or turn db.runmigrations on.`,
    );
}
