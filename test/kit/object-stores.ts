import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acmeBinary } from '#temporal-dev/binaries/acme-binary.ts';
import { findBinary, findInstalled, type SearchContext } from '#temporal-dev/binaries/find-binary.ts';
import { gcsBinary } from '#temporal-dev/binaries/gcs-binary.ts';
import { s3Binary } from '#temporal-dev/binaries/s3-binary.ts';
import { currentPlatform } from '#temporal-dev/machine/platform.ts';
import { readStackEnvironment } from '#temporal-dev/machine/stack-environment.ts';
import { startStack, type Stack } from '#temporal-dev/stack/start-stack.ts';
import { startSeaweed } from './seaweed.ts';

/** Servers that only tests use and that are built from source, the quickest build first. */
export const builtServers = { acme: acmeBinary, s3: s3Binary, gcs: gcsBinary } as const;
export type BuiltServer = keyof typeof builtServers;

/** A server of object storage for one test file. */
export interface ObjectStore {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** A server that tests kill and start again. */
export interface KilledObjectStore extends ObjectStore {
  readonly stack: Stack;
}

/** How binaries of tests are found. @param stateDir folder of the processes that fetch or run them */
export function searchContext(stateDir: string, report: (line: string) => void): SearchContext {
  const environment = readStackEnvironment(process.env, stateDir); // oxlint-disable-line no-restricted-properties -- where the caches and programs of this machine are
  return {
    platform: currentPlatform(),
    environment,
    stateDir,
    report: (line, isTransient) => (isTransient ? undefined : report(line)),
  };
}

/** Whether this machine has the servers that only tests use, so that none has to be built. */
export async function areServersBuilt(): Promise<boolean> {
  const search = searchContext(join(import.meta.dirname, '..', '..', '.local'), () => {});
  const found = await Promise.all(Object.values(builtServers).map((spec) => findInstalled(spec, search)));
  return found.every((binary) => binary !== undefined);
}

/**
 * Starts a server of its own for a test file, for `s3` with the region that signatures must name, if one is given; it starts within a tenth
 * of a second. On a machine that has no binary yet, this waits for the build that runs beside the suite (`ServerBuilds`), or builds it;
 * until then SeaweedFS serves S3, which accepts every region.
 * @throws StackError with the reasons when there is no binary and none can be built
 */
export async function startObjectStore(part: 's3' | 'gcs', s3Region?: undefined): Promise<ObjectStore>;
export async function startObjectStore(part: 's3', s3Region: string): Promise<KilledObjectStore>;
export async function startObjectStore(part: 's3' | 'gcs', s3Region?: string): Promise<ObjectStore> {
  const stateDir = await realpath(await mkdtemp(join(tmpdir(), `core-${part}-`)));
  const search = searchContext(stateDir, (line) => console.log(`${part}: ${line}`));
  if (part === 's3' && s3Region === undefined && !(await findInstalled(s3Binary, search))) return startSeaweed(search);
  await findBinary(part === 's3' ? s3Binary : gcsBinary, search);
  const stack = await startStack({
    stateDir,
    profile: 'test',
    [part]: true,
    ...(s3Region === undefined ? {} : { s3Region }),
    without: ['postgres', 'temporal', 'openfga'],
    report: () => {},
  });
  const url = stack[part]?.url;
  if (url === undefined) throw new Error(`the stack was to have ${part}`);
  const stop = async () => {
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  };
  const store: KilledObjectStore = { url, stack, stop };
  return store;
}
