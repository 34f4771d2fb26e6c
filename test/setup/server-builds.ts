import { spawn, type ChildProcess } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestSpecification } from 'vitest/node';
import { builtServersOf } from './late-files.ts';

const program = fileURLToPath(new URL('build-servers-main.ts', import.meta.url));

/**
 * Builds the servers of tests that the machine lacks (a certificate authority, object storage), beside the suite and with less
 * priority, and prints how far that is. The tests that need them run last, and wait for them; the build ends with the run, and the next
 * one continues it.
 */
export class ServerBuilds implements Reporter {
  #child: ChildProcess | undefined;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const wanted = new Set(specifications.flatMap(({ moduleId }) => builtServersOf(moduleId)));
    if (this.#child || wanted.size === 0) return;
    const child = spawn(process.execPath, [program, ...wanted], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    createInterface({ input: child.stdout }).on('line', (line) => console.log(`servers of tests: ${line}`));
    child.once('exit', () => {
      this.#child = undefined;
    });
  }

  onTestRunEnd(): void {
    this.#child?.kill('SIGTERM');
  }
}
