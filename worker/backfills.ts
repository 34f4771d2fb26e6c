import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { runBackfillContract } from '#workflows/maintenance/run-backfill.contract.ts';

interface Dependencies {
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  /** Pause after a start that has failed, for example because Temporal cannot be reached, in milliseconds. */
  readonly retryMs?: number;
}

/**
 * Starts the backfills while `backfill.enabled` is on: now, and after each reload. Workers that start together find one run.
 * @returns ends that
 * @throws AppError workflows_unavailable at the start; after a reload, it is tried again
 */
export async function keepBackfills(
  config: ConfigStore,
  { temporal, logger, retryMs = 5_000 }: Dependencies,
): Promise<() => void> {
  const stopping = new AbortController();
  const start = async () => {
    if (config.current.backfill.enabled) await temporal.start(runBackfillContract, {}, { search: {}, repeat: 'again' });
  };
  const startAgain = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      try {
        return await start();
      } catch (error) {
        logger.error({ err: error }, 'the backfills could not be started');
        await pause(retryMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      }
  };
  await start();
  const end = config.subscribe('', () => void startAgain());
  return () => {
    stopping.abort();
    end();
  };
}
