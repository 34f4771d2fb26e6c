import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { runBackfillContract } from '#workflows/maintenance/run-backfill.contract.ts';

/**
 * Starts the backfills while `backfill.enabled` is on: now, and after each reload. Workers that start together find one run.
 * @returns ends that
 * @throws AppError workflows_unavailable
 */
export async function keepBackfills(
  config: ConfigStore,
  { temporal, logger }: { readonly temporal: TemporalGateway; readonly logger: Logger },
): Promise<() => void> {
  const start = async () => {
    if (config.current.backfill.enabled) await temporal.start(runBackfillContract, {}, { search: {}, repeat: 'again' });
  };
  await start();
  return config.subscribe('', () => {
    start().catch((error: unknown) => logger.error({ err: error }, 'the backfills could not be started'));
  });
}
