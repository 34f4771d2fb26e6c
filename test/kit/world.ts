import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { pino, type Logger } from 'pino';
import { inject } from 'vitest';
import { createApi, type Api } from '#api/start.ts';
import { Metrics } from '#api/metrics.ts';
import { listeners as productListeners } from '#activities/listeners/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { ConfigStore } from '#config/store.ts';
import { ManualClock } from '#entities/kit/clock.ts';
import { newId } from '#entities/kit/ids.ts';
import type { StatementObserver } from '#entities/kit/transaction.ts';
import { openBackbone, type Backbone } from '#relay/backbone.ts';
import { hasListener } from '#workflows/events/subscriptions.ts';
import { startWorker, type RunningWorker } from '#worker/start.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/database.ts';
import { testSecrets } from '../setup/secrets.ts';
import { recordRead } from './config-reads.ts';
import { TestClient } from './test-client.ts';
import { verifyInstallation } from '#relay/verify.ts';

export interface WorldOptions {
  /** Runs a worker in this process; its activity queues, or all. */
  readonly worker?: boolean | readonly string[];
  /** `CORE_…` variables on top of those of the test installation. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Listeners besides those of the product. */
  readonly listeners?: readonly Listener[];
  readonly observers?: readonly StatementObserver[];
  /** Leave out the check at the end that rows, history, events, deliveries and tuples agree; say why at the call. */
  readonly skipVerify?: boolean;
}

/** One installation of the product for one test file: its own database, authorization store, queues and ids. */
export interface World {
  readonly name: string;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly config: ConfigStore;
  readonly backbone: Backbone;
  readonly api: Api;
  readonly clock: ManualClock;
  readonly logs: Record<string, unknown>[];
  readonly mailFolder: string;
  readonly listeners: readonly Listener[];
  /** A browser: keeps cookies and repeats the CSRF token. */
  client(): TestClient;
  startWorker(queues?: readonly string[]): Promise<RunningWorker>;
  close(): Promise<void>;
}

let isRuntimeInstalled = false;

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const stack = inject('stack');
  const name = `t${newId().slice(-12).toLowerCase()}`;
  const databaseUrl = stack.postgresUrl.replace('DATABASE', name);
  await createDatabase(stack.postgresUrl.replace('DATABASE', 'postgres'), name, stack.template);
  const folder = join(stack.folder, name);
  const mailFolder = join(folder, 'email');
  mkdirSync(mailFolder, { recursive: true });

  const environment = { ...installationEnvironment(name, databaseUrl, mailFolder), ...options.environment };
  const { logger, logs } = recordingLogger();
  const clock = new ManualClock(new Date());
  const config = await ConfigStore.open({
    environment,
    directory: folder,
    stateFolder: folder,
    logger,
    record: recordRead,
  });
  const listeners = [...productListeners, ...(options.listeners ?? [])];
  const extra = new Set((options.listeners ?? []).flatMap((listener) => listener.topics));
  const backbone = await openBackbone({
    config,
    temporalEnvironment: {},
    logger,
    process: 'core api',
    clock,
    hasListener: (topic) => hasListener(topic) || extra.has(topic),
    observers: options.observers ?? [],
  });
  const api = await createApi({ config, backbone, logger, metrics: new Metrics(), clock, stateFolder: folder });
  await api.app.ready();

  let worker: RunningWorker | undefined;
  const startOne = async (queues?: readonly string[]) => {
    if (!isRuntimeInstalled) {
      isRuntimeInstalled = true;
      const silent = () => {};
      Runtime.install({
        shutdownSignals: [],
        logger: { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent },
      });
    }
    return startWorker({
      config,
      backbone,
      logger,
      listeners,
      bundlePath: stack.bundlePath,
      ...(queues ? { queues } : {}),
    });
  };
  if (options.worker) worker = await startOne(options.worker === true ? undefined : options.worker);

  return {
    name,
    databaseUrl,
    environment,
    config,
    backbone,
    api,
    clock,
    logs,
    mailFolder,
    listeners,
    client: () => new TestClient(api.app, config),
    startWorker: startOne,
    close: async () => {
      await api.app.close();
      await worker?.stop();
      try {
        if (!options.skipVerify) await assertAgreement(backbone);
      } finally {
        config.close();
        await backbone.close();
        await dropDatabase(stack.postgresUrl.replace('DATABASE', 'postgres'), name);
      }
    },
  };
}

/** Every suite ends with the question whether all that was recorded agrees. */
async function assertAgreement(backbone: Backbone): Promise<void> {
  const disagreements = await verifyInstallation(backbone, { isQuiet: false });
  if (disagreements.length > 0) throw new Error(`the installation disagrees with itself:\n${disagreements.join('\n')}`);
}

export function installationEnvironment(name: string, databaseUrl: string, mailFolder: string): Record<string, string> {
  const stack = inject('stack');
  return {
    CORE_SERVER_DEV: 'true',
    CORE_SERVER_LISTEN: '127.0.0.1:0',
    CORE_SERVER_METRICSPORT: '127.0.0.1:0',
    CORE_SERVER_CSRFPROTECTION_SECURE: 'false',
    CORE_SESSIONS_SECURE: 'false',
    CORE_SESSIONS_SIGNINGKEY: testSecrets.signingKey,
    CORE_SESSIONS_ENCRYPTIONKEY: testSecrets.encryptionKey,
    CORE_TOTP_SECRET: testSecrets.totpSecret,
    CORE_DB_PRIMARYDBSOURCE: databaseUrl,
    CORE_DB_RUNMIGRATIONS: 'false',
    CORE_DB_MAXCONNECTIONS: '8',
    CORE_AUTHZ_HOSTURL: stack.openfgaUrl,
    CORE_AUTHZ_STORENAME: name,
    CORE_JOBQUEUE_CONNECTIONURI: `temporal://${stack.temporalAddress}/${stack.namespace}`,
    CORE_JOBQUEUE_QUEUECONF_SCHEMA: name,
    CORE_JOBQUEUE_RUNMIGRATIONS: 'false',
    CORE_AUTH_TOKEN_KID: 'test',
    CORE_AUTH_TOKEN_ISSUER: 'https://api.test',
    CORE_AUTH_TOKEN_AUDIENCE: 'https://api.test',
    CORE_INTEGRATIONS_EMAIL_FROMEMAIL: 'core@example.com',
    CORE_INTEGRATIONS_EMAIL_TESTDIR: mailFolder,
    CORE_INTEGRATIONS_EMAIL_APIURL: 'https://api.test',
  };
}

/** Log lines as objects, so that tests can ask what was, and what was not, logged. */
function recordingLogger(): { logger: Logger; logs: Record<string, unknown>[] } {
  const logs: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'debug' },
    { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { logger, logs };
}
