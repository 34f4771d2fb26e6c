import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '#activities/clients/logger.ts';
import { statementSpans, startTelemetry } from '#activities/clients/telemetry.ts';
import {
  readFailpoints,
  readStateFolder,
  readTelemetryEnvironment,
  readTemporalEnvironment,
} from '#config/environment.ts';
import { configFileArgument } from '#config/load.ts';
import { exitOnConfigurationError } from '#config/problem.ts';
import { ConfigStore } from '#config/store.ts';
import { armFailpoints } from '#entities/kit/failpoint.ts';
import { isAppError } from '#entities/kit/errors.ts';
import { migrate, migrationState } from '#migrations/migrator.ts';
import { openBackbone } from '#relay/backbone.ts';
import { Metrics } from './metrics.ts';
import { createApi, listen } from './start.ts';

const logger = createLogger('api');
const config = await ConfigStore.open({ file: configFileArgument(process.argv.slice(2)), logger }).catch(
  exitOnConfigurationError,
);
config.start();
if (config.current.server.dev) armFailpoints(readFailpoints());

try {
  await prepareDatabase();
} catch (error) {
  logger.fatal({ err: error }, isAppError(error) ? error.message : 'the database could not be prepared');
  process.exit(1);
}

const metrics = new Metrics();
const telemetry = await startTelemetry('core-api', readTelemetryEnvironment().otlpEndpoint);
const backbone = await openBackbone({
  config,
  temporalEnvironment: readTemporalEnvironment(),
  logger,
  process: 'core api',
  metrics: metrics.registry,
  observers: [
    { statement: ({ durationMs }) => metrics.statements.observe(durationMs / 1_000) },
    ...(telemetry.isSending ? [statementSpans] : []),
  ],
});
const api = await createApi({ config, backbone, logger, metrics, stateFolder: readStateFolder() });
const listening = await listen(api).catch((error: unknown) => {
  logger.fatal({ err: error }, `the port could not be opened: ${(error as Error).message}`);
  process.exit(1);
});
logger.info({ url: listening.url, metrics: listening.metricsUrl }, 'api ready');
process.send?.('ready');

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isStopping) return;
    isStopping = true;
    logger.info({ signal }, 'api stops');
    void stop();
  });
}

async function stop(): Promise<void> {
  try {
    await listening.close();
    config.close();
    await backbone.close();
    await telemetry.close();
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    process.exitCode = 1;
  }
  process.exit();
}

/** PostgreSQL may come up later than we do: tried for `shutdowngraceperiod`. */
async function prepareDatabase(): Promise<void> {
  const { db, server } = config.current;
  const giveUpAt = Date.now() + server.shutdowngraceperiod;
  for (;;) {
    try {
      if (db.runmigrations) {
        const ran = await migrate(db.primarydbsource);
        if (ran.length > 0) logger.info({ migrations: ran }, 'migrations ran');
        return;
      }
      const { pending, unknown } = await migrationState(db.primarydbsource);
      if (pending.length > 0)
        throw new Error(
          `the migrations ${pending.join(', ')} have not run; run them with "npm run migrate" or set db.runmigrations`,
        );
      if (unknown.length > 0) logger.warn({ migrations: unknown }, 'the database belongs to a newer version');
      return;
    } catch (error) {
      if (!isAppError(error) || error.code !== 'database_unavailable' || Date.now() > giveUpAt) throw error;
      logger.warn({ err: error }, 'the database cannot be reached; trying again');
      await pause(500);
    }
  }
}
