import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Server } from 'node:http';
import { Runtime } from '@temporalio/worker';
import { createLogger, standardOutput } from '#runtime/logger.ts';
import { newRegistry } from '#runtime/metrics/process-metrics.ts';
import { serveMetrics } from '#runtime/metrics-server.ts';
import { serverUrl } from '#runtime/server-url.ts';
import { onStop } from '#runtime/stop-signals.ts';
import { statementSpans, startTelemetry } from '#runtime/telemetry.ts';
import {
  readEmailProviders,
  readFailpoints,
  readIntegrationProviders,
  readPaymentProvider,
  readStateFolder,
  readTelemetryEnvironment,
  readTemporalEnvironment,
} from '#config/reading/standard-variables.ts';
import { parseListenAddress } from '#config/schema/format.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { ConfigurationError, exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { ensureStorage } from '#runtime/ensure-storage.ts';
import { StartError } from '#runtime/start-error.ts';
import { openRuntime } from '#runtime/core-runtime.ts';
import { workflowBundle } from './build-bundle.ts';
import { SdkMetrics } from './sdk-metrics.ts';
import { startWorker, type RunningWorker } from './start-worker.ts';
import { untilMigrated } from './until-migrated.ts';

const { values } = parseArgs({
  options: { config: { type: 'string' }, queues: { type: 'string' } },
});
const output = standardOutput();
const logger = createLogger('worker', {}, output);
const config = await ConfigStore.open({ file: configFileArgument(process.argv.slice(2)), logger }).catch(
  exitOnConfigurationError,
);
config.start();
if (config.current.server.dev) armFailpoints(readFailpoints());
const { jobqueue, server } = config.current;
if (server.dev) output.showToPeople();
const registry = newRegistry();
const sdkMetrics = jobqueue.metrics.enablemetrics
  ? new SdkMetrics(registry, jobqueue.metrics.metricsdurationunit)
  : undefined;
// The library would shut its workers down on a signal, before the relay has stopped.
Runtime.install({
  shutdownSignals: [],
  logger: {
    log: () => {},
    trace: () => {},
    debug: () => {},
    info: () => {},
    warn: (message, meta) => logger.warn(meta ?? {}, message),
    error: (message, meta) => logger.error(meta ?? {}, message),
  },
  ...(sdkMetrics ? { telemetryOptions: { metrics: { buffer: sdkMetrics.buffer } } } : {}),
});
const metricsServer = await exportMetrics();

const telemetry = await startTelemetry('core-worker', readTelemetryEnvironment().otlpEndpoint);
const runtime = await openRuntime({
  config,
  temporalEnvironment: readTemporalEnvironment(),
  payment: readPaymentProvider(),
  integrations: readIntegrationProviders(),
  logger,
  stateFolder: readStateFolder(),
  process: 'core worker',
  metrics: registry,
  observers: telemetry.isSending ? [statementSpans(config.current.db.databasename)] : [],
}).catch(exitOnConfigurationError);
/** Time after `SoftStopTimeout` in which connections are closed and spans sent. */
const closingMs = 3_000;
let running: RunningWorker | undefined;

onStop((reason) => {
  logger.info({ reason }, 'worker stops');
  exitLate();
  void (running?.stop() ?? Promise.resolve()).then(finish, fail);
});

/** A worker runs without metrics too: on one machine the API may already use the port. */
async function exportMetrics(): Promise<Server | undefined> {
  const address = parseListenAddress(server.metricsport);
  if (!address) return undefined;
  try {
    const listening = await serveMetrics(registry, address, () => sdkMetrics?.update());
    logger.info({ metrics: `${serverUrl(listening)}/metrics` }, 'metrics are exported');
    return listening;
  } catch (error) {
    logger.warn({ err: error }, `metrics are not exported: give the worker a server.metricsport of its own`);
    return undefined;
  }
}

/** Database and Temporal may start later than the worker: tries until both answer. */
async function startWhenReachable(): Promise<RunningWorker> {
  await untilMigrated(config.current.db, logger);
  await runtime.store?.refuseForeignStore();
  await ensureStorage(config.current, runtime.storage);
  const bundlePath = await workflowBundle(join(readStateFolder(), 'bundles'));
  for (;;) {
    try {
      return await startWorker({
        config,
        runtime,
        logger,
        bundlePath,
        emailProviders: server.dev ? readEmailProviders() : {},
        ...(values.queues ? { queues: values.queues.split(',') } : {}),
      });
    } catch (error) {
      if (!isAppError(error) && (error as Error).name !== 'TransportError') throw error;
      logger.warn({ err: error }, 'Temporal cannot be reached; trying again');
      await pause(1_000);
    }
  }
}

/** Ends the process even if something hangs: unfinished work is in rows and in Temporal, and continues elsewhere. */
function exitLate(): void {
  const { SoftStopTimeout } = config.current.jobqueue.queueconf;
  setTimeout(() => {
    logger.warn('the worker did not stop in time and exits now');
    process.exit(process.exitCode ?? 0);
  }, SoftStopTimeout + closingMs).unref();
}

async function finish(): Promise<void> {
  config.close();
  sdkMetrics?.close();
  metricsServer?.close();
  await runtime.close();
  await telemetry.close();
  process.exit(process.exitCode ?? 0);
}

function fail(error: unknown): void {
  if (isAppError(error) || error instanceof StartError) logger.fatal(error.message);
  else logger.fatal({ err: error }, 'worker failed');
  process.exitCode = 1;
  void finish();
}

try {
  running = await startWhenReachable();
  process.send?.('ready');
  running.ended.catch(fail);
} catch (error) {
  if (error instanceof ConfigurationError) exitOnConfigurationError(error);
  fail(error);
}
