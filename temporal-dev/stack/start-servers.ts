import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { findBinary, requireFetcher, type SearchContext } from '../binaries/find-binary.ts';
import { openfgaBinary } from '../binaries/openfga-binary.ts';
import { findPostgresBinaries, type PostgresBinaries } from '../binaries/postgres-binaries.ts';
import { gcsBinary } from '../binaries/gcs-binary.ts';
import { redisBinary } from '../binaries/redis-binary.ts';
import { s3Binary } from '../binaries/s3-binary.ts';
import { temporalBinary } from '../binaries/temporal-binary.ts';
import type { FoundBinary } from '../binaries/binary-spec.ts';
import { ensureDatabase } from '../servers/create-database.ts';
import { PORT_NAMES, S3_PORT_NAMES, type PartName, type PortName } from '../machine/stack-environment.ts';
import {
  fileDatastore,
  launchOpenfga,
  migrateOpenfga,
  OPENFGA_DATABASE,
  postgresDatastore,
} from '../servers/launch-openfga.ts';
import { claimPort, requirePort, type PortClaim, type Ports } from '../machine/ports.ts';
import { launchPostgres, postgresUrl, preparePostgres, type Profile } from '../servers/launch-postgres.ts';
import { isAlive, type ProcessIdentity } from '../machine/process-table.ts';
import { launchGcs } from '../servers/launch-gcs.ts';
import { launchRedis } from '../servers/launch-redis.ts';
import { launchS3 } from '../servers/launch-s3.ts';
import type { Launch } from '../servers/spawn-server.ts';
import { explainFileError, messageOf } from '../machine/stack-error.ts';
import { dataDirectory, type StackState } from '../servers/stack-state.ts';
import { isReady, runServer, stopPart, type EndListener } from './run-server.ts';
import { launchTemporal, waitForTemporalUi } from '../servers/launch-temporal.ts';

/** One start of the stack. */
export interface StartSession extends SearchContext {
  profile: Profile;
  owner: ProcessIdentity;
  state: StackState;
  signal: AbortSignal;
  namespaces: readonly string[];
  uiCodecEndpoint?: string | undefined;
  /** Called when a server ends without having been stopped. */
  onEnd: EndListener;
}

interface Binaries {
  postgres?: PostgresBinaries;
  temporal?: FoundBinary;
  openfga?: FoundBinary;
  redis?: FoundBinary;
  s3?: FoundBinary;
  gcs?: FoundBinary;
}

/** Finds or fetches the binaries of all wanted parts in parallel. The first failure ends the other fetches. */
export async function findBinaries(wanted: ReadonlySet<PartName>, session: StartSession): Promise<Binaries> {
  const fetched = { openfga: openfgaBinary, redis: redisBinary, s3: s3Binary, gcs: gcsBinary } as const;
  for (const part of ['openfga', 'redis', 's3', 'gcs'] as const)
    if (wanted.has(part)) await requireFetcher(fetched[part], session);
  const failure = new AbortController();
  const context = { ...session, signal: AbortSignal.any([session.signal, failure.signal]) };
  const binaries: Binaries = {};
  const searches: Promise<void>[] = [];
  const search = <Name extends PartName>(name: Name, find: () => Promise<NonNullable<Binaries[Name]>>): void => {
    if (!wanted.has(name)) return;
    searches.push(
      (async () => {
        try {
          binaries[name] = await find();
        } catch (error) {
          failure.abort(error);
        }
      })(),
    );
  };
  search('postgres', () => findPostgresBinaries(context));
  search('temporal', () => findBinary(temporalBinary, context));
  search('openfga', () => findBinary(openfgaBinary, context));
  search('redis', () => findBinary(redisBinary, context));
  search('s3', () => findBinary(s3Binary, context));
  search('gcs', () => findBinary(gcsBinary, context));
  await Promise.all(searches);
  session.signal.throwIfAborted();
  if (failure.signal.aborted) throw failure.signal.reason;
  return binaries;
}

/** Starts all servers for which there is a binary, in parallel. Throws the first failure after all starts have ended. */
export async function startServers(binaries: Binaries, session: StartSession): Promise<void> {
  const { postgres, openfga, temporal, redis, s3, gcs } = binaries;
  const outcomes = await Promise.allSettled([
    (async () => {
      if (postgres !== undefined) await startPostgres(postgres, session);
      if (openfga !== undefined) await startOpenfga(openfga, session, postgres !== undefined);
    })(),
    temporal === undefined ? undefined : startTemporal(temporal, session),
    redis === undefined ? undefined : startRedis(redis, session),
    s3 === undefined ? undefined : startS3(s3, session),
    gcs === undefined ? undefined : startGcs(gcs, session),
  ]);
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

async function startPostgres(binaries: PostgresBinaries, session: StartSession): Promise<void> {
  const { stateDir, profile } = session;
  const user = await preparePostgres(stateDir, binaries, profile);
  await startPart(session, binaries, {
    part: 'postgres',
    hasFolder: false,
    portNames: ['postgres'],
    makeLaunch: (ports) => launchPostgres(stateDir, binaries, { ports, profile, user }),
  });
}

async function startTemporal(binary: FoundBinary, session: StartSession): Promise<void> {
  const { stateDir, profile, namespaces, uiCodecEndpoint } = session;
  await startPart(session, binary, {
    part: 'temporal',
    hasFolder: true,
    portNames: ['temporal', 'temporal-http', 'temporal-ui'],
    makeLaunch: (ports) => launchTemporal(stateDir, binary, { ports, profile, namespaces, uiCodecEndpoint }),
  });
  if (profile === 'development') await waitForTemporalUi(session.state.parts.temporal?.ports ?? {});
}

async function startOpenfga(binary: FoundBinary, session: StartSession, isPostgresWanted: boolean): Promise<void> {
  const { stateDir, state, profile } = session;
  // Only a server of this start: the folder may have a PostgreSQL that is not wanted any more.
  const postgres = isPostgresWanted ? state.parts.postgres : undefined;
  const datastore = postgres === undefined ? fileDatastore(stateDir) : postgresDatastore(stateDir, postgres.ports);
  if (postgres === undefined) makeDirectory(dataDirectory(stateDir, 'openfga'));
  else await ensureDatabase(postgresUrl(stateDir, postgres.ports, 'postgres'), OPENFGA_DATABASE);
  await migrateOpenfga(stateDir, binary, datastore);
  await startPart(session, binary, {
    part: 'openfga',
    hasFolder: postgres === undefined,
    portNames: ['openfga', 'openfga-grpc'],
    makeLaunch: (ports) => launchOpenfga(stateDir, binary, { ports, profile, datastore }),
  });
}

async function startRedis(binary: FoundBinary, session: StartSession): Promise<void> {
  const { stateDir, state, profile } = session;
  const password = (state.redisPassword ??= randomBytes(24).toString('base64url'));
  await startPart(session, binary, {
    part: 'redis',
    hasFolder: true,
    portNames: ['redis'],
    makeLaunch: (ports) => launchRedis(stateDir, binary, { ports, password, profile }),
  });
}

function startS3(binary: FoundBinary, session: StartSession): Promise<void> {
  return startPart(session, binary, {
    part: 's3',
    hasFolder: true,
    portNames: S3_PORT_NAMES,
    makeLaunch: (ports) => launchS3(session.stateDir, binary, { ports }),
  });
}

function startGcs(binary: FoundBinary, session: StartSession): Promise<void> {
  return startPart(session, binary, {
    part: 'gcs',
    hasFolder: true,
    portNames: ['gcs'],
    makeLaunch: (ports) => launchGcs(session.stateDir, binary, { ports }),
  });
}

interface PartPlan {
  part: PartName;
  portNames: readonly [PortName, ...PortName[]];
  /** Whether the data folder must exist before the server starts. */
  hasFolder: boolean;
  makeLaunch: (ports: Ports) => Launch;
}

/** Maximum number of starts of a server. Another process may take a port after it was chosen; then a new port is chosen. */
const MAX_ATTEMPTS = 3;

async function startPart(
  session: StartSession,
  { version, route }: { version: string; route: string },
  plan: PartPlan,
): Promise<void> {
  const { state, stateDir, report, owner, onEnd } = session;
  const { part, portNames } = plan;
  session.signal.throwIfAborted();
  if (await keepRunning(session, plan)) return;
  if (plan.hasFolder) makeDirectory(dataDirectory(stateDir, part));
  for (let attempt = 1; ; attempt += 1) {
    const { ports, release } = await claimPorts(session, portNames);
    rememberPorts(session, ports);
    try {
      await runServer(state, { launch: plan.makeLaunch(ports), ports, owner, version, route }, onEnd);
      report(`${part} ${version} is ready on port ${requirePort(ports, portNames[0])}`);
      return;
    } catch (error) {
      await stopPart(stateDir, state, part);
      if (attempt === MAX_ATTEMPTS || !/address already in use/i.test(messageOf(error))) throw error;
    } finally {
      await release();
    }
  }
}

/** True when the part already runs in the background with the same settings. Otherwise it is stopped. */
async function keepRunning(session: StartSession, { part, portNames, makeLaunch }: PartPlan): Promise<boolean> {
  const { state, stateDir, report, environment } = session;
  const record = state.parts[part];
  if (record === undefined) return false;
  const ports: Ports = { ...record.ports };
  for (const name of portNames) ports[name] = environment.ports[name]?.port ?? ports[name];
  const isSame = JSON.stringify(makeLaunch(ports)) === JSON.stringify(record.launch);
  if (isSame && isAlive(record.identity) && (await isReady(record))) {
    report(`${part} ${record.version} is already running`);
    return true;
  }
  await stopPart(stateDir, state, part);
  return false;
}

/** Stores chosen ports for the next start, except configured ones. */
function rememberPorts({ state, environment }: StartSession, ports: Ports): void {
  for (const name of PORT_NAMES)
    if (environment.ports[name] === undefined) state.ports[name] = ports[name] ?? state.ports[name];
}

async function claimPorts(
  session: StartSession,
  names: readonly PortName[],
): Promise<{ ports: Ports; release: () => Promise<void> }> {
  const { state, stateDir, report, profile } = session;
  const claims: PortClaim[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(claims.map((claim) => claim.release()));
  };
  // Tests run beside a development stack and leave the configured and default ports to it.
  const shouldUseDefaultPorts = profile === 'development';
  const environment = shouldUseDefaultPorts ? session.environment : { ...session.environment, ports: {} };
  const ports: Ports = {};
  try {
    for (const name of names) {
      const request = { name, remembered: state.ports[name], report };
      const claim = await claimPort(request, { stateDir, environment, shouldUseDefaultPorts });
      claims.push(claim);
      ports[name] = claim.port;
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { ports, release };
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainFileError(error, path);
  }
}
