import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { mayHelpToWait, migrationState, refuseUnknown } from '#migrations/migrator.ts';

const pauseMs = 500;

/**
 * Waits until the database is reachable and has this version's schema. Workers never migrate: the API does
 * (`db.runmigrations`), or an operator runs `npm run migrate`.
 * @throws AppError schema_too_new; database_unavailable where waiting does not help
 */
export async function untilMigrated(url: string, logger: Logger): Promise<void> {
  let logged = '';
  for (;;) {
    const reason = await whyNotReady(url);
    if (reason === undefined) return;
    if (reason !== logged) logger.warn(`${reason} Waiting.`);
    logged = reason;
    await pause(pauseMs);
  }
}

/** @returns why the worker cannot start yet; undefined when it can */
async function whyNotReady(url: string): Promise<string | undefined> {
  try {
    const { pending, unknown } = await migrationState(url);
    refuseUnknown(unknown);
    return pending.length === 0 ? undefined : `The database lacks the migrations ${pending.join(', ')}.`;
  } catch (error) {
    if (!mayHelpToWait(error)) throw error;
    return error.message;
  }
}
