import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '#config/objects/root.ts';
import { bringUp, whyNotCurrent } from '#migrations/bring-up.ts';
import { mayHelpToWait } from '#migrations/migrator.ts';
import { StartError } from '#runtime/start-error.ts';

const pauseMs = 500;

/**
 * Runs pending migrations (`db.runmigrations`), or checks that nothing is left to do. Waits for PostgreSQL up to `server.shutdowngraceperiod`,
 * because it may start later than the API.
 * @throws StartError when migrations are pending; AppError database_unavailable, schema_too_new
 */
export async function prepareDatabase({ db, server }: Config, logger: Logger): Promise<void> {
  const giveUpAt = Date.now() + server.shutdowngraceperiod;
  let isWaiting = false;
  const told = {
    ran: (migrations: readonly string[]) => {
      if (migrations.length > 0) logger.info({ migrations }, 'migrations ran');
    },
    doing: (message: string) => logger.info(message),
  };
  for (;;) {
    try {
      await (db.runmigrations ? bringUp(db, told) : requireCurrent(db));
      return;
    } catch (error) {
      if (!mayHelpToWait(error) || Date.now() > giveUpAt) throw error;
      if (!isWaiting) logger.warn(`${error.message} Waiting.`);
      isWaiting = true;
      await pause(pauseMs);
    }
  }
}

async function requireCurrent(db: Config['db']): Promise<void> {
  const reason = (await whyNotCurrent(db))?.replace(/\.$/, '');
  if (reason !== undefined) throw new StartError(`${reason}: run "npm run migrate", or turn db.runmigrations on.`);
}
