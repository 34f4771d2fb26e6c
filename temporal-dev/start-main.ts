import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createLogger } from '#runtime/logger.ts';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { openRuntime } from '#runtime/core-runtime.ts';
import { startCodecServer } from '#worker/codec/codec-server.ts';
import { ensureDatabase } from './servers/create-database.ts';
import { configuredPorts } from './product/configured-ports.ts';
import { localIdentity, needsLocalIdentity } from './product/local-identity.ts';
import { localPayment, needsLocalPayment } from './product/local-payment.ts';
import { listenUrl, metricsUrl } from './product/listen-url.ts';
import { besideApi, PersonalSettings, productEnvironment } from './product/product-environment.ts';
import { productPorts, rememberPorts } from './product/product-ports.ts';
import { ManagedProcess, messageOf, type ManagedProcessOptions } from './product/managed-process.ts';
import { offIn } from './product/off-in.ts';
import { noDemo, readyBlock, type ReadyFacts } from './product/ready-block.ts';
import { RestartLimit } from './machine/restart-limit.ts';
import type { PartName } from './machine/stack-environment.ts';
import { terminalReport } from './machine/progress-report.ts';
import { demoEmail, demoPassword, demoPeople, seedDemo } from './product/seed-demo.ts';
import { StackError } from './machine/stack-error.ts';
import { refuseSecondStart, startStack, type Stack } from './stack/start-stack.ts';
import { prepareStateDirectory } from './servers/stack-state.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const stateDir = process.env['STACK_STATE_DIR'] ?? join(root, '.local');
const readyFile = join(stateDir, 'ready.json');
const report = terminalReport(process.stderr, 'start: ');
/** The bootstrap passes the time at which it was started, so that the installation of the dependencies is included. */
const startedAt = Number(process.env['STACK_STARTED_AT']) || Date.now();
const limit = new RestartLimit();
const interrupted = new AbortController();

/** Placeholder addresses for checking the configuration before the servers run. */
const placeholderStack = {
  postgres: { url: (database: string) => `postgres://127.0.0.1:1/${database}`, pid: 0, port: 1 },
  temporal: { address: '127.0.0.1:1', uiUrl: 'http://127.0.0.1:1', pid: 0 },
  openfga: { url: 'http://127.0.0.1:1', pid: 0 },
};

/** Steps that stop what was started; run in reverse order at the end. */
const undo: (() => Promise<void>)[] = [];
let facts: ReadyFacts | undefined;
let isStopping = false;

/** Rejected when a process cannot be kept running. */
const failure = Promise.withResolvers<never>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

try {
  await Promise.race([run(), aborted(), failure.promise]);
  report('stopping');
} catch (error) {
  if (error instanceof ConfigurationError || error instanceof StackError) report(error.message);
  else if (!interrupted.signal.aborted) report(error instanceof Error ? (error.stack ?? error.message) : String(error));
  if (!interrupted.signal.aborted) process.exitCode = 1;
} finally {
  isStopping = true;
  // Only our own file: when the start was refused, the file belongs to the process that already runs.
  if (facts) rmSync(readyFile, { force: true });
  for (const step of undo.toReversed()) {
    await step().catch((error: unknown) => {
      report(`stopping: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    });
  }
}
process.exit();

/** Starts everything and prints the addresses. Then keeps everything running until it is interrupted. */
async function run(): Promise<void> {
  const file = configurationFile();
  prepareStateDirectory(stateDir);
  refuseSecondStart(stateDir);
  const personal = new PersonalSettings(process.env, file ?? join(root, 'config', 'config.yaml'));
  const configured = configuredPorts(personal);
  const ports = await productPorts(stateDir, configured, report);
  const paymentUrl = needsLocalPayment(personal) ? `http://127.0.0.1:${ports.payment}` : undefined;
  const identityUrl = needsLocalIdentity(personal) ? `http://127.0.0.1:${ports.identity}` : undefined;
  const local = { apiPort: ports.api, metricsPort: ports.metrics, stateDir, paymentUrl, identityUrl };
  // Mistakes in the configuration are reported before anything is downloaded.
  await loadConfiguration({
    file,
    environment: productEnvironment(process.env, personal, placeholderStack, local),
    directory: root,
    stateFolder: stateDir,
  });

  const stack = await bringUpStack(personal, ports.codec);
  rememberPorts(stateDir, ports, configured);
  // An earlier start that was killed may have left the file.
  rmSync(readyFile, { force: true });
  if (stack?.postgres && !personal.ownServers.postgres) await ensureDatabase(stack.postgres.url('postgres'), 'core');
  const environment = {
    ...productEnvironment(process.env, personal, stack, local),
    STACK_STATE_DIR: stateDir,
    ...(stack?.temporal ? { TEMPORAL_UI_URL: stack.temporal.uiUrl } : {}),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(stateDir, 'compile-cache'),
  };
  const { config } = await loadConfiguration({ file, environment, directory: root, stateFolder: stateDir });
  rememberEnvironment(environment, file);
  await startCodec(config.sessions.encryptionkey, ports.codec, stack);

  const grace = config.server.shutdowngraceperiod;
  const args = file === undefined ? [] : ['--config', file];
  const beside = besideApi(environment, config.server.metricsport, ports.workerMetrics);
  const { listen, metricsport } = config.server;
  const apiUrl = listenUrl(listen);
  const standIns = [
    ...(paymentUrl ? [localPayment(config, apiUrl, ports.payment, environment)] : []),
    ...(identityUrl ? [localIdentity(config, ports.identity, environment)] : []),
  ].map((options) => startPart(options, 0));
  const parts = [
    startPart({ name: 'api', program: 'api/api-main.ts', args, environment }, grace),
    startPart({ name: 'worker', program: 'worker/worker-main.ts', args, environment: beside }, grace),
  ] as const;
  const [api, worker] = parts;
  await api.process.ready;
  // The demo users have a publicly known password.
  if (personal.ownServers.postgres)
    report('no demo data were written, because db.primarydbsource is your own database');
  const demo = personal.ownServers.postgres ? noDemo : await seed(environment, file);
  await worker.process.ready;
  await untilReady(`${apiUrl}/readyz`);

  facts = {
    urls: {
      api: apiUrl,
      graphql: `${apiUrl}/graphql`,
      docs: `${apiUrl}/docs`,
      metrics: metricsUrl(metricsport),
      workerMetrics: metricsUrl(beside['CORE_SERVER_METRICSPORT'] ?? metricsport),
      temporalUi: stack?.temporal?.uiUrl ?? '',
      ...(paymentUrl ? { payment: paymentUrl } : {}),
      ...(identityUrl ? { identity: `${identityUrl}/.well-known/openid-configuration` } : {}),
    },
    demo,
    pids: { api: api.process.pid, worker: worker.process.pid, ...(stack ? serverPids(stack) : {}) },
    startedInMs: Date.now() - startedAt,
  };
  writeFacts({});
  process.stdout.write(readyBlock(facts, config.server.csrfprotection, offIn(config)));
  await Promise.all([...parts, ...standIns].map(keepRunning));
}

/** Updates `.local/ready.json`; before everything is ready there is none. */
function writeFacts(pids: Readonly<Record<string, number>>): void {
  if (facts === undefined) return;
  facts = { ...facts, pids: { ...facts.pids, ...pids } };
  // Programs that wait for the file read it as soon as it is there.
  writeFileSync(`${readyFile}.part`, `${JSON.stringify(facts, null, 2)}\n`);
  renameSync(`${readyFile}.part`, readyFile);
}

function serverPids({ postgres, temporal, openfga, redis }: Stack): Record<string, number> {
  const servers = Object.entries({ postgres, temporal, openfga, redis });
  return Object.fromEntries(servers.flatMap(([name, server]) => (server ? [[name, server.pid]] : [])));
}

/** Starts the API or the worker again each time it ends by itself. Throws a StackError when that happens too often. */
async function keepRunning(part: Part): Promise<never> {
  for (;;) {
    const how = await part.process.ended;
    if (isStopping) return new Promise(() => {});
    const { name } = part.process;
    limit.count(name, how);
    report(`${name} ended (${how}): starting it again`);
    part.start();
    await part.process.ready;
    writeFacts({ [name]: part.process.pid });
    report(`${name} is ready`);
  }
}

/** @returns the file named by `--config`. @throws StackError for unknown arguments */
function configurationFile(): string | undefined {
  try {
    const { config } = parseArgs({ options: { config: { type: 'string' } } }).values;
    return config ? resolve(config) : config;
  } catch (error) {
    const [reason] = (error as Error).message.split(/\. |\n/, 1);
    throw new StackError(`${reason}; usage: npm start -- [--config FILE]`, { cause: error });
  }
}

/** Writes the settings for tools that run beside the product (temporal-dev/with-local-main.ts). The file contains passwords. */
function rememberEnvironment(environment: Readonly<Record<string, string>>, file: string | undefined): void {
  const own = Object.entries(environment).filter(([name]) => /^(?:CORE_|PAYMENT_PROVIDER_URL$)/.test(name));
  const remembered = { variables: Object.fromEntries(own), ...(file ? { file } : {}) };
  writeFileSync(join(stateDir, 'environment.json'), `${JSON.stringify(remembered, null, 2)}\n`, { mode: 0o600 });
}

async function bringUpStack(personal: PersonalSettings, codecPort: number): Promise<Stack | undefined> {
  const own = personal.ownServers;
  const without = (['postgres', 'temporal', 'openfga'] as const).filter((name) => own[name]);
  const redis = personal.flag('cache.enabled') === true && !personal.has('cache.address');
  if (without.length === 3 && !redis) return undefined;
  const started = Promise.withResolvers<Stack>();
  const stack = await startStack({
    onEnd: (name, how) =>
      void started.promise.then((running) => restartServer(running, name, how)).catch(failure.reject),
    stateDir,
    profile: 'development',
    without,
    redis,
    uiCodecEndpoint: `http://127.0.0.1:${codecPort}`,
    report: terminalReport(process.stderr, 'stack: '),
    signal: interrupted.signal,
  });
  undo.push(() => stack.stop());
  started.resolve(stack);
  return stack;
}

/** Starts a server again that ended by itself. Throws a StackError when that happens too often. */
async function restartServer(stack: Stack, name: PartName, how: string): Promise<void> {
  limit.count(name, how);
  report(`${name} ended (${how}): starting it again`);
  await stack.restart(name);
  writeFacts(serverPids(stack));
  report(`${name} is ready`);
}

async function startCodec(encryptionKey: string, port: number, stack: Stack | undefined): Promise<void> {
  if (!stack?.temporal) return;
  const { port: uiPort } = new URL(stack.temporal.uiUrl);
  const server = await startCodecServer({
    host: '127.0.0.1',
    port,
    origins: [`http://127.0.0.1:${uiPort}`, `http://localhost:${uiPort}`],
    encryptionKey: () => encryptionKey,
  });
  undo.push(async () => {
    server.close();
    server.closeAllConnections();
  });
}

/** The API or the worker, which may be started several times. */
interface Part {
  process: ManagedProcess;
  start: () => void;
}

function startPart(
  options: Pick<ManagedProcessOptions, 'name' | 'program' | 'args' | 'environment'>,
  graceMs: number,
): Part {
  const create = () => new ManagedProcess({ ...options, root, stateDir });
  const part: Part = { process: create(), start: () => (part.process = create()) };
  // The process itself ends within the grace period. It is killed if it does not.
  undo.push(() => part.process.stop(graceMs + 2_000));
  return part;
}

async function seed(environment: Record<string, string>, file: string | undefined): Promise<ReadyFacts['demo']> {
  const logger = createLogger('seed', { level: 'warn' }, { write: (line) => report(messageOf(line.trimEnd())) });
  const config = await ConfigStore.open({ file, environment, directory: root, stateFolder: stateDir, logger });
  const runtime = await openRuntime({
    config,
    temporalEnvironment: {},
    logger,
    stateFolder: stateDir,
    process: 'core tool',
  });
  try {
    const people = demoPeople.map(({ email, roles }) => ({ email, roles }));
    return { email: demoEmail, password: demoPassword, organizationId: await seedDemo(runtime.database), people };
  } finally {
    await runtime.close();
  }
}

/** Waits until the API reports that all dependencies are ready. Throws a StackError with the report after a minute. */
async function untilReady(url: string): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await fetch(url, { signal: interrupted.signal }).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > giveUpAt) {
      const body = answer ? await answer.text() : 'no answer';
      throw new StackError(`${url} is not ready after a minute: ${body}`);
    }
    await pause(50);
  }
}

function aborted(): Promise<void> {
  return new Promise((resolve) => {
    if (interrupted.signal.aborted) resolve();
    interrupted.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
