import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { inject } from 'vitest';
import { createLogger } from '#runtime/logger.ts';
import { Metrics } from '#api/http/http-metrics.ts';
import type { Route } from '#api/http/route.ts';
import type { CertificateOptions } from '#api/open-certificate.ts';
import { createApi, listen, type Api, type Listening } from '#api/start-api.ts';
import { listeners as productListeners } from '#activities/listeners/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import type { SecretManagerEndpoint } from '#activities/clients/secret-manager/secret-versions.ts';
import type { ChatSettings } from '#activities/clients/chat/chat-target.ts';
import type { ProviderSettings } from '#activities/clients/integrations/provider-access.ts';
import type { EmailProviderSettings } from '#activities/clients/email/from-config.ts';
import type { EmailNetwork } from '#activities/clients/email-validation/email-validator.ts';
import { ConfigStore, type ReloadReport } from '#config/live/config-store.ts';
import { ManualClock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { StatementObserver } from '#entities/kit/storage/transaction.ts';
import { openRuntime, type CoreRuntime, type CoreRuntimeOptions } from '#runtime/core-runtime.ts';
import { releaseWorkflows } from '#worker/release-workflows.ts';
import { startWorker, type RunningWorker } from '#worker/start-worker.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';
import { testSecrets } from '../setup/secrets.ts';
import type { TestStack } from '../setup/test-stack.ts';
import { recordRead } from './config-reads.ts';
import { eventually } from './eventually.ts';
import { hashPasswordsAs } from './identity/password-hashing.ts';
import { secretInLog } from './fuzz/leaked-secret.ts';
import { createTables } from './records/synthetic-tables.ts';
import { TestClient } from './test-client.ts';
import { untilAvailable } from './until-available.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { cannotBeAsked } from '#tools/commands/verify-objects.ts';

export interface WorldOptions {
  /** Runs a worker in this process; its activity queues, or all. */
  readonly worker?: boolean | readonly string[];
  /** `CORE_…` variables on top of those of the test installation. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Listeners besides those of the product. */
  readonly listeners?: readonly Listener[];
  readonly observers?: readonly StatementObserver[];
  readonly onDecision?: CoreRuntimeOptions['onDecision'];
  /** Routes besides those of the product, for handlers that misbehave on purpose. */
  readonly routes?: readonly Route[];
  /** Records have values that do not go together, so comparisons of areas would report them. */
  readonly hasRandomValues?: true;
  /** Leave out the check at the end that rows, history, events, deliveries and tuples agree; say why at the call. */
  readonly skipVerify?: boolean;
  /** Servers that are asked about e-mail addresses. */
  readonly emailNetwork?: Partial<EmailNetwork>;
  /** Where the providers of e-mail are. */
  readonly emailProviders?: EmailProviderSettings;
  /** Where the payment provider is. */
  readonly payment?: CoreRuntimeOptions['payment'];
  /** Where the operator's chat is. */
  readonly chat?: ChatSettings;
  /** Where the other systems of integrations are. */
  readonly integrations?: ProviderSettings;
  /** Kinds other than those of the product; their tables are created. */
  readonly registry?: Registry;
  /** Servers of its own, for tests that stop them; default those of the run. */
  readonly stack?: TestStack;
}

export interface InstanceOptions {
  /** `CORE_…` variables on top of those of the world. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly routes?: readonly Route[];
  readonly secretManager?: SecretManagerEndpoint;
  /** Maximum duration of a request to a sign-in provider, in milliseconds. */
  readonly providerTimeoutMs?: number;
  /** Where people see workflows. */
  readonly temporalUi?: string;
  /** The authority of `server.tls.autocert`. */
  readonly certificates?: CertificateOptions;
}

/** One API process of a world. */
export interface Instance {
  readonly api: Api;
  readonly runtime: CoreRuntime;
  readonly config: ConfigStore;
  client(): TestClient;
  /** Opens real ports; they close with the instance. */
  listen(): Promise<Listening>;
  /** Runs a worker with this instance's configuration; whoever starts it stops it. */
  startWorker(queues?: readonly string[]): Promise<RunningWorker>;
  stopServing(): Promise<void>;
  /** To be called after `stopServing`. */
  close(): Promise<void>;
}

/** One installation of the product for one test file: its own database, authorization store, queues and ids. */
export interface World {
  readonly name: string;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly api: Api;
  readonly clock: ManualClock;
  readonly logs: Record<string, unknown>[];
  readonly mailFolder: string;
  readonly listeners: readonly Listener[];
  /** A browser: keeps cookies and repeats the CSRF token. */
  client(): TestClient;
  /** Changes `CORE_…` variables (undefined removes one) and reloads the configuration, as a running process does. */
  reconfigure(changes: Readonly<Record<string, string | undefined>>): Promise<ReloadReport>;
  /** Another API process of this installation; it ends with the world. */
  openInstance(options?: InstanceOptions): Promise<Instance>;
  /** Opens real ports; they close with the world. */
  listen(): Promise<Listening>;
  startWorker(queues?: readonly string[]): Promise<RunningWorker>;
  close(): Promise<void>;
}

let isRuntimeInstalled = false;

/** The native part of the worker library is one per process. */
export function installRuntime(): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  const silent = () => {};
  Runtime.install({
    shutdownSignals: [],
    logger: { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent },
  });
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  hashPasswordsAs('minimal');
  const stack = options.stack ?? inject('stack');
  const name = `t${newId().slice(-12).toLowerCase()}`;
  const databaseUrl = stack.postgresUrl.replace('DATABASE', name);
  await createDatabase(stack.postgresUrl.replace('DATABASE', 'postgres'), name, stack.template);
  if (options.registry) await createTables(databaseUrl, options.registry);
  const folder = join(stack.folder, name);
  const mailFolder = join(folder, 'email');
  mkdirSync(mailFolder, { recursive: true });

  const environment: Record<string, string> = {
    ...installationEnvironment(name, databaseUrl, mailFolder, stack),
    ...options.environment,
  };
  const { logger, logs, leaks } = recordingLogger();
  const clock = new ManualClock(new Date());
  const listeners = [...productListeners, ...(options.listeners ?? [])];
  let hadWorker = false;
  const openInstance = async (more: InstanceOptions): Promise<Instance> => {
    const variables = more.environment ? { ...environment, ...more.environment } : environment;
    const config = await ConfigStore.open({
      environment: variables,
      directory: folder,
      stateFolder: folder,
      logger,
      record: recordRead,
    });
    const metrics = new Metrics();
    const runtime = await openRuntime({
      config,
      metrics: metrics.registry,
      temporalEnvironment: {},
      logger,
      stateFolder: folder,
      process: 'core api',
      clock,
      listeners,
      observers: options.observers ?? [],
      ...(options.integrations ? { integrations: options.integrations } : {}),
      ...(options.onDecision ? { onDecision: options.onDecision } : {}),
      ...(options.registry ? { registry: options.registry } : {}),
      ...(options.emailNetwork ? { emailNetwork: options.emailNetwork } : {}),
      ...(options.integrations ? { integrations: options.integrations } : {}),
      ...(options.payment ? { payment: options.payment } : {}),
    });
    const routes = more.routes ?? options.routes ?? [];
    const api = await createApi({
      config,
      runtime,
      logger,
      metrics,
      clock,
      stateFolder: folder,
      ...(options.emailNetwork ? { emailNetwork: options.emailNetwork } : {}),
      secretManager: more.secretManager,
      providerTimeoutMs: more.providerTimeoutMs,
      temporalUi: more.temporalUi,
      certificates: more.certificates,
      routes,
    });
    await api.app.ready();
    const sockets: Listening[] = [];
    return {
      api,
      runtime,
      config,
      client: () => new TestClient(api.app, config),
      listen: async () => {
        const listening = await listen(api);
        sockets.push(listening);
        return listening;
      },
      startWorker: (queues) => {
        hadWorker = true;
        installRuntime();
        return startWorker({
          config,
          runtime,
          logger,
          bundlePath: stack.bundlePath,
          ...(options.emailProviders ? { emailProviders: options.emailProviders } : {}),
          ...(options.chat ? { chat: options.chat } : {}),
          ...(queues ? { queues } : {}),
        });
      },
      stopServing: async () => {
        await Promise.all(sockets.map((listening) => listening.close()));
        await api.app.close();
      },
      close: async () => {
        config.close();
        await runtime.close();
      },
    };
  };
  const first = await openInstance({});
  const { api, runtime, config } = first;
  const others: Instance[] = [];

  let worker: RunningWorker | undefined;
  const startWhenAvailable = (queues?: readonly string[]) => untilAvailable(() => first.startWorker(queues));
  if (options.worker) worker = await startWhenAvailable(options.worker === true ? undefined : options.worker);

  const world: World = {
    name,
    databaseUrl,
    environment,
    config,
    runtime,
    api,
    clock,
    logs,
    mailFolder,
    listeners,
    client: () => first.client(),
    reconfigure: (changes) => {
      for (const [variable, value] of Object.entries(changes)) {
        if (value === undefined) delete environment[variable];
        else environment[variable] = value;
      }
      return config.reload();
    },
    openInstance: async (more = {}) => {
      const instance = await openInstance(more);
      others.push(instance);
      return instance;
    },
    listen: () => first.listen(),
    startWorker: startWhenAvailable,
    close: async () => {
      const instances = [first, ...others];
      await Promise.all(instances.map((instance) => instance.stopServing()));
      await worker?.stop();
      if (hadWorker) await removeSchedules(name, runtime);
      try {
        await assertNothingHeld(instances);
        if (!options.skipVerify) await assertAgreement(runtime, hadWorker, options.hasRandomValues);
        if (leaks.length > 0) throw new Error(`log lines contain secrets:\n${leaks.join('\n')}`);
      } finally {
        await Promise.all(instances.map((instance) => instance.close()));
        await dropDatabase(stack.postgresUrl.replace('DATABASE', 'postgres'), name);
        revoke();
      }
    },
  };
  // The modules of test files stay in memory, and with them their world: a closed one holds nothing, and says so when it is used.
  const { proxy, revoke } = Proxy.revocable(world, {});
  return proxy;
}

/** No request, whatever became of it, leaves a connection checked out or a unit of work open. */
async function assertNothingHeld(instances: readonly Instance[]): Promise<void> {
  for (const { runtime } of instances) {
    const { pool } = runtime.database;
    // Background work of the last requests may still be at it.
    await eventually(
      () => runtime.database.activeUnits === 0 && pool.waitingCount === 0 && pool.idleCount === pool.totalCount,
    ).catch(() => {
      throw new Error(
        `left behind: ${runtime.database.activeUnits} units of work, ${pool.totalCount - pool.idleCount} connections, ${pool.waitingCount} waiting`,
      );
    });
  }
}

/** Names of the schedules of this release. */
export const releaseSchedules = releaseWorkflows.flatMap(({ contract }) =>
  contract.schedule ? [contract.workflowId({})] : [],
);

/** Schedules that are left behind would continue to start workflows that no worker runs. */
export async function removeSchedules(
  prefix: string,
  { temporal }: CoreRuntime,
  names: readonly string[] = releaseSchedules,
): Promise<void> {
  const { schedule } = temporal.client;
  await Promise.allSettled(names.map((name) => schedule.getHandle(`${prefix}/${name}`).delete()));
}

/** Where no worker ever was, events, messages and e-mails wait, and a clock that was moved makes them look old. */
const waitsForWorkers =
  / was never delivered$| has messages that are due, | is (?:pending|waiting|open|connected and repeats \w+), but its workflow /;

/** Every suite ends with the question whether all that was recorded agrees. */
async function assertAgreement(runtime: CoreRuntime, hadWorker: boolean, hasRandomValues = false): Promise<void> {
  const found = await verifyInstallation(runtime, { isQuiet: false, ...(hasRandomValues ? { areas: [] } : {}) });
  const disagreements = found.filter(
    (line) =>
      (hadWorker || !waitsForWorkers.test(line)) &&
      // No schedule runs in tests, and some move the clock.
      !line.includes(' should have been sent on ') &&
      !line.includes(' should have been reminded of ') &&
      // Tests about rows alone name a bucket that does not exist, and those about settings leave providers disabled.
      !line.includes(` ${cannotBeAsked} `),
  );
  if (disagreements.length > 0) throw new Error(`the installation disagrees with itself:\n${disagreements.join('\n')}`);
}

export function installationEnvironment(
  name: string,
  databaseUrl: string,
  mailFolder: string,
  stack = inject('stack'),
): Record<string, string> {
  return {
    CORE_SERVER_DEV: 'true',
    CORE_SERVER_LISTEN: '127.0.0.1:0',
    CORE_SERVER_METRICSPORT: '127.0.0.1:0',
    // Tests compare answers as a whole; those of the extensions turn them on.
    CORE_SERVER_ENABLEGRAPHEXTENSIONS: 'false',
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
    // Every organization has every product module where no test is about that.
    CORE_ORMCONFIG_MODULES_ENABLED: 'false',
    CORE_AUTH_TOKEN_KID: 'test',
    CORE_AUTH_TOKEN_ISSUER: 'https://api.test',
    CORE_AUTH_TOKEN_AUDIENCE: 'https://api.test',
    CORE_INTEGRATIONS_EMAIL_FROMEMAIL: 'core@example.com',
    CORE_INTEGRATIONS_EMAIL_TESTDIR: mailFolder,
    // Files are stored below the folder of the world.
    CORE_OBJECTSTORAGE_DEVMODE: 'true',
    CORE_INTEGRATIONS_EMAIL_APIURL: 'https://api.test',
  };
}

/** Log lines as objects, so that tests can ask what was, and what was not, logged; `leaks` are lines with secrets. */
function recordingLogger(): { logger: Logger; logs: Record<string, unknown>[]; leaks: string[] } {
  const logs: Record<string, unknown>[] = [];
  const leaks: string[] = [];
  const write = (line: string) => {
    if (secretInLog(line)) leaks.push(line);
    logs.push(JSON.parse(line) as Record<string, unknown>);
  };
  return { logger: createLogger('test', { level: 'debug' }, { write }), logs, leaks };
}
