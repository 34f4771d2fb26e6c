import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '#config/objects/root.ts';
import { whyNotCurrent } from '#migrations/bring-up.ts';
import { mayHelpToWait } from '#migrations/migrator.ts';

const pauseMs = 500;

/**
 * Waits until the database is reachable and has this version's schema. Workers never migrate: the API does
 * (`db.runmigrations`), or an operator runs `npm run migrate`.
 * @throws AppError schema_too_new; database_unavailable where waiting does not help
 */
export async function untilMigrated(db: Config['db'], logger: Logger): Promise<void> {
  let logged = '';
  for (;;) {
    const reason = await whyNotReady(db);
    if (reason === undefined) return;
    if (reason !== logged) logger.warn(`${reason} Waiting.`);
    logged = reason;
    await pause(pauseMs);
  }
}

/** @returns why the worker cannot start yet; undefined when it can */
async function whyNotReady(db: Config['db']): Promise<string | undefined> {
  try {
    return await whyNotCurrent(db);
  } catch (error) {
    if (!mayHelpToWait(error)) throw error;
    return error.message;
  }
}
