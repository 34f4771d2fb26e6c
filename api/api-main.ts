import { createLogger, standardOutput } from '#runtime/logger.ts';
import { onStop } from '#runtime/stop-signals.ts';
import { statementSpans, startTelemetry } from '#runtime/telemetry.ts';
import {
  readFailpoints,
  readIntegrationProviders,
  readPaymentProvider,
  readStateFolder,
  readTelemetryEnvironment,
  readTemporalEnvironment,
  readTemporalUi,
} from '#config/reading/standard-variables.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { ConfigurationError, exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { Metrics } from './http/http-metrics.ts';
import { prepareDatabase } from './prepare-database.ts';
import { warnOfIdleGates } from '#runtime/warn-of-idle-gates.ts';
import { ensureStorage, warnOfUnreadableObjects } from '#runtime/ensure-storage.ts';
import { StartError } from '#runtime/start-error.ts';

/** Time after `shutdowngraceperiod` to close connections and send spans, in milliseconds. */
const closeMs = 3_000;

const output = standardOutput();
const logger = createLogger('api', {}, output);
const config = await ConfigStore.open({ file: configFileArgument(process.argv.slice(2)), logger }).catch(
  exitOnConfigurationError,
);
/** Functions that close what is open; called in reverse order. */
const open: (() => Promise<void> | void)[] = [() => config.close()];

let isStopping = false;
onStop((reason) => {
  isStopping = true;
  logger.info({ reason }, 'api stops');
  void stop();
});

await start().catch(fail);

async function start(): Promise<void> {
  if (config.current.server.dev) output.showToPeople();
  config.start();
  const temporalEnvironment = readTemporalEnvironment();
  const temporalUi = readTemporalUi();
  const { otlpEndpoint } = readTelemetryEnvironment();
  await prepareDatabase(config.current, logger);
  // Loading these is most of the start: what is wrong with the configuration or the database is said before.
  const [{ openRuntime }, { createApi, listen }] = await Promise.all([
    import('#runtime/core-runtime.ts'),
    import('./start-api.ts'),
  ]);
  const { databasename } = config.current.db;
  const metrics = new Metrics();
  const telemetry = await startTelemetry('core-api', otlpEndpoint);
  open.push(() => telemetry.close());
  const runtime = await openRuntime({
    config,
    temporalEnvironment,
    payment: readPaymentProvider(),
    integrations: readIntegrationProviders(),
    logger,
    stateFolder: readStateFolder(),
    process: 'core api',
    metrics: metrics.registry,
    observers: telemetry.isSending ? [statementSpans(databasename)] : [],
  });
  open.push(() => runtime.close());
  await runtime.store?.refuseForeignStore();
  await ensureStorage(config.current, runtime.storage);
  await warnOfUnreadableObjects(runtime, logger).catch((error: unknown) =>
    logger.warn({ err: error }, 'the objects of disabled providers could not be counted'),
  );
  await warnOfIdleGates(runtime, logger);
  // Only now: the transactions of the start are not those that tests mean.
  if (config.current.server.dev) armFailpoints(readFailpoints());
  const api = await createApi({ config, runtime, logger, metrics, temporalUi, stateFolder: readStateFolder() });
  const listening = await listen(api);
  open.push(() => listening.close());
  logger.info({ url: listening.url, metrics: listening.metricsUrl }, 'api ready');
  process.send?.('ready');
}

/** Logs one line for errors that an operator can fix, and the stack for all others. */
function fail(error: unknown): void {
  // A stop during the start makes it fail.
  if (isStopping) return;
  if (error instanceof ConfigurationError) exitOnConfigurationError(error);
  if (error instanceof StartError || isAppError(error)) logger.fatal(error.message);
  else logger.fatal({ err: error }, 'the API could not start');
  process.exit(1);
}

async function stop(): Promise<void> {
  exitAfterTimeout();
  try {
    for (const close of open.toReversed()) await close();
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    process.exitCode = 1;
  }
  process.exit();
}

/** Ends the process even if closing hangs; PostgreSQL rolls back uncommitted transactions. */
function exitAfterTimeout(): void {
  setTimeout(() => {
    logger.warn('the API did not stop in time; the process exits');
    process.exit();
  }, config.current.server.shutdowngraceperiod + closeMs).unref();
}
