import { createLogger } from '#runtime/logger.ts';
import { onStop } from '#runtime/stop-signals.ts';
import { statementSpans, startTelemetry } from '#runtime/telemetry.ts';
import {
  readFailpoints,
  readStateFolder,
  readTelemetryEnvironment,
  readTemporalEnvironment,
} from '#config/reading/standard-variables.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { ConfigurationError, exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { openRuntime } from '#runtime/core-runtime.ts';
import { Metrics } from './http/http-metrics.ts';
import { prepareDatabase } from './prepare-database.ts';
import { StartError } from '#runtime/start-error.ts';
import { createApi, listen } from './start-api.ts';

/** Time after `shutdowngraceperiod` in which connections are closed and spans sent, in milliseconds. */
const lateMs = 3_000;

const logger = createLogger('api');
const config = await ConfigStore.open({ file: configFileArgument(process.argv.slice(2)), logger }).catch(
  exitOnConfigurationError,
);
/** What is open, to be closed in reverse order. */
const open: (() => Promise<void> | void)[] = [() => config.close()];

let isStopping = false;
onStop((reason) => {
  isStopping = true;
  logger.info({ reason }, 'api stops');
  void stop();
});

await start().catch(fail);

async function start(): Promise<void> {
  config.start();
  if (config.current.server.dev) armFailpoints(readFailpoints());
  const temporalEnvironment = readTemporalEnvironment();
  const { otlpEndpoint } = readTelemetryEnvironment();
  await prepareDatabase(config.current, logger);
  const metrics = new Metrics();
  const telemetry = await startTelemetry('core-api', otlpEndpoint);
  open.push(() => telemetry.close());
  const runtime = await openRuntime({
    config,
    temporalEnvironment,
    logger,
    process: 'core api',
    metrics: metrics.registry,
    observers: [
      { statement: ({ durationMs }) => metrics.statements.observe(durationMs / 1_000) },
      ...(telemetry.isSending ? [statementSpans] : []),
    ],
  });
  open.push(() => runtime.close());
  const api = await createApi({ config, runtime, logger, metrics, stateFolder: readStateFolder() });
  const listening = await listen(api);
  open.push(() => listening.close());
  logger.info({ url: listening.url, metrics: listening.metricsUrl }, 'api ready');
  process.send?.('ready');
}

/** One line for what an operator can mend; with its stack what is a bug. */
function fail(error: unknown): void {
  // What is closed under a start cannot go on.
  if (isStopping) return;
  if (error instanceof ConfigurationError) exitOnConfigurationError(error);
  if (error instanceof StartError || isAppError(error)) logger.fatal(error.message);
  else logger.fatal({ err: error }, 'the api could not start');
  process.exit(1);
}

async function stop(): Promise<void> {
  cutOffLate();
  try {
    for (const close of open.toReversed()) await close();
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    process.exitCode = 1;
  }
  process.exit();
}

/** Whatever hangs, the process ends: what was not committed is rolled back by PostgreSQL. */
function cutOffLate(): void {
  setTimeout(() => {
    logger.warn('api did not stop in time and is cut off');
    process.exit();
  }, config.current.server.shutdowngraceperiod + lateMs).unref();
}
