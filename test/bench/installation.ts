import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { Client } from 'pg';
import { createLogger } from '#runtime/logger.ts';
import { prepareNamespace } from '#activities/clients/temporal/temporal-admin.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { readPaymentProvider } from '#config/reading/standard-variables.ts';
import { migrate } from '#migrations/migrator.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { createDatabase } from '#temporal-dev/servers/create-database.ts';
import { startStack } from '#temporal-dev/stack/start-stack.ts';
import { workflowBundle } from '#worker/build-bundle.ts';
import { startWorker, type RunningWorker } from '#worker/start-worker.ts';
import { testSecrets } from '../setup/secrets.ts';

/** Topic of the events that benchmarks record, and the one listener that wants them. */
export const benchTopic = 'bench.happened';

/** Where services of other companies are. */
type WorkerSettings = Pick<Parameters<typeof startWorker>[0], 'emailProviders'>;

export interface BenchInstallation {
  readonly runtime: CoreRuntime;
  readonly databaseUrl: string;
  /** `CORE_…` variables and what else a process of this installation is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** A connection of its own, for set-up and for asking how far things are. */
  readonly client: Client;
  startWorker(options?: WorkerSettings): Promise<RunningWorker>;
  close(): Promise<void>;
}

/**
 * The listener writes one row in its own transaction: the least a listener does. `bench_deliveries` remembers when.
 */
const writeRow: Listener = {
  name: 'bench-write-row',
  topics: [benchTopic],
  deliver: async ({ event, unit }) => {
    const session = await unit.readAs('system');
    await session.query('insert into bench_deliveries (event_id, at) values ($1, clock_timestamp())', [event.id]);
  },
};

/**
 * A whole installation on servers of its own, with the durability of production.
 * @param settings `CORE_…` variables of its processes
 * @param listeners those to which its worker delivers events
 */
export async function openBenchInstallation(
  settings: Readonly<Record<string, string>> = {},
  listeners: readonly Listener[] = [writeRow],
): Promise<BenchInstallation> {
  const stateDir = await mkdtemp(join(tmpdir(), 'core-bench-'));
  const stack = await startStack({ stateDir, profile: 'development', report: () => {} });
  const { postgres, temporal, openfga } = stack;
  if (!postgres || !temporal || !openfga) throw new Error('the benchmark needs PostgreSQL, Temporal and OpenFGA');
  const databaseUrl = postgres.url('bench');
  await createDatabase(postgres.url('postgres'), 'bench');
  await migrate(databaseUrl);
  const logger = createLogger('bench', { level: 'error' });
  const environment = {
    STACK_STATE_DIR: stateDir,
    CORE_SERVER_DEV: 'true',
    CORE_SERVER_LISTEN: '127.0.0.1:0',
    CORE_SERVER_METRICSPORT: '127.0.0.1:0',
    CORE_SERVER_CSRFPROTECTION_SECURE: 'false',
    CORE_SESSIONS_SIGNINGKEY: testSecrets.signingKey,
    CORE_SESSIONS_ENCRYPTIONKEY: testSecrets.encryptionKey,
    CORE_TOTP_SECRET: testSecrets.totpSecret,
    CORE_DB_PRIMARYDBSOURCE: databaseUrl,
    CORE_AUTHZ_HOSTURL: openfga.url,
    CORE_JOBQUEUE_CONNECTIONURI: `temporal://${temporal.address}/default`,
    CORE_AUTH_TOKEN_KID: 'bench',
    CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
    CORE_API_TOKEN_KEY_BENCH: 'b'.repeat(40),
    CORE_AUTH_TOKEN_ISSUER: 'https://api.test',
    CORE_AUTH_TOKEN_AUDIENCE: 'https://api.test',
    CORE_INTEGRATIONS_EMAIL_FROMEMAIL: 'core@example.com',
    ...settings,
  };
  const config = await ConfigStore.open({ logger, stateFolder: stateDir, environment });
  const runtime = await openRuntime({
    config,
    temporalEnvironment: {},
    payment: readPaymentProvider(settings),
    logger,
    stateFolder: stateDir,
    process: 'core worker',
    listeners,
  });
  await prepareNamespace(runtime.temporal, 86_400_000);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('create table bench_deliveries (event_id text not null, at timestamptz not null)');
  await client.query('grant insert on bench_deliveries to core_system');
  installRuntime();
  let worker: RunningWorker | undefined;
  return {
    runtime,
    databaseUrl,
    environment,
    client,
    startWorker: async (options = {}) => {
      worker = await startWorker({
        ...options,
        config,
        runtime,
        logger,
        bundlePath: await workflowBundle(join(stateDir, 'bundles')),
      });
      return worker;
    },
    close: async () => {
      await worker?.stop();
      await client.end();
      config.close();
      await runtime.close();
      await stack.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

let isRuntimeInstalled = false;

/** The native part of the worker library is one per process, and several benchmarks may run in this one. */
function installRuntime(): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  const silent = () => {};
  Runtime.install({
    shutdownSignals: [],
    logger: { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent },
  });
}
