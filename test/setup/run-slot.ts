import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { machineLockName, tryMachineLock } from '#temporal-dev/machine/machine-lock.ts';

/** A state folder that belongs to one run until `release`, or until the run's process ends. */
export interface RunSlot {
  readonly stateDir: string;
  release(): Promise<void>;
}

/**
 * The first free of `test`, `test-1`, `test-2`, … Runs beside each other in one clone each have their own servers, and
 * because slots are used again, what they leave behind does not pile up.
 */
export async function takeRunSlot(localDir: string): Promise<RunSlot> {
  for (let number = 0; ; number++) {
    const path = join(localDir, number === 0 ? 'test' : `test-${number}`);
    mkdirSync(path, { recursive: true });
    const stateDir = realpathSync(path);
    const right = await tryMachineLock(machineLockName('test-run', stateDir), `running tests in ${stateDir}`);
    if (right) return { stateDir, release: () => right.release() };
  }
}
