import type { Logger } from 'pino';
import type { Database } from '#entities/kit/unit/database.ts';

/** Pause between two looks at the second database, in milliseconds. Whoever changes the same rows waits for what is prepared there. */
const pauseMs = 1_000;

/**
 * Ends what processes and servers that died left prepared in the second database (`db.multiwrite`). Every process does, so it happens
 * as long as one runs.
 * @returns stops it
 */
export function settleRegularly(database: Database, logger: Logger): () => void {
  const { second } = database;
  if (!second) return () => {};
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  /** Said once: it may last as long as the second database is away. */
  let failure = '';
  const settle = async () => {
    try {
      const { committed, rolledBack, unknown } = await database.settleSecond(second);
      if (committed + rolledBack > 0)
        logger.info(
          { committed, rolledBack },
          'transactions that were left prepared in the second database have ended',
        );
      if (unknown.length > 0 && failure === '')
        logger.error(
          { prepared: unknown },
          'the second database has prepared transactions that this database never had',
        );
      failure = unknown.join();
    } catch (error) {
      const { message } = error as Error;
      if (message !== failure && !isStopped)
        logger.warn({ err: error }, 'prepared transactions of the second database cannot be ended now; trying again');
      failure = message;
    }
    if (!isStopped) timer = setTimeout(() => void settle(), pauseMs).unref();
  };
  timer = setTimeout(() => void settle(), pauseMs).unref();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
