import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestSpecification } from 'vitest/node';
import { needsObjectStores } from './object-store-files.ts';

const program = fileURLToPath(new URL('build-object-stores-main.ts', import.meta.url));

/**
 * Builds the servers of object storage that the machine lacks, beside the suite and with less priority, and prints how far that is. The tests
 * that need them run last, and wait for them; the build ends with the run, and the next one continues it.
 */
export class ObjectStoreBuilds implements Reporter {
  #child: ChildProcess | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    if (this.#child || !specifications.some(({ moduleId }) => needsObjectStores(moduleId))) return;
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    createInterface({ input: child.stdout }).on('line', (line) => console.log(`object stores: ${line}`));
    child.once('exit', () => {
      this.#child = undefined;
    });
  }

  onTestRunEnd(): void {
    this.#child?.kill('SIGTERM');
  }
}
