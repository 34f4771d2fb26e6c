import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { machineLockName, tryMachineLock } from '#temporal-dev/machine/machine-lock.ts';
import { openStateFolder } from './state-folder.ts';

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
  mkdirSync(localDir, { recursive: true });
  const folder = realpathSync(localDir);
  for (let number = 0; ; number++) {
    const path = join(folder, number === 0 ? 'test' : `test-${number}`);
    const right = await tryMachineLock(machineLockName('test-run', path), `running tests in ${path}`);
    if (!right) continue;
    const state = await openStateFolder(path);
    return {
      stateDir: state.path,
      release: async () => {
        await state.release();
        await right.release();
      },
    };
  }
}
