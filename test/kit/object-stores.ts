import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchContext } from '#temporal-dev/binaries/find-binary.ts';
import { currentPlatform } from '#temporal-dev/machine/platform.ts';
import { readStackEnvironment } from '#temporal-dev/machine/stack-environment.ts';
import { startStack, type Stack } from '#temporal-dev/stack/start-stack.ts';

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

/**
 * Starts SeaweedFS, which accepts every region, or the emulator of Google Cloud Storage for a test file.
 * @throws StackError with the reasons when the machine has no binary and none can be fetched
 */
export async function startObjectStore(part: 's3' | 'gcs'): Promise<KilledObjectStore> {
  const stateDir = await realpath(await mkdtemp(join(tmpdir(), `core-${part}-`)));
  const stack = await startStack({
    stateDir,
    profile: 'test',
    [part]: true,
    without: ['postgres', 'temporal', 'openfga'],
    report: () => {},
  });
  const url = stack[part]?.url;
  if (url === undefined) throw new Error(`the stack was to have ${part}`);
  const stop = async () => {
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  };
  return { url, stack, stop };
}
