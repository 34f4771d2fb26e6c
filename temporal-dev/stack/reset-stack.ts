import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PART_NAMES } from '../machine/stack-environment.ts';
import type { Report } from '../machine/progress-report.ts';
import { stopStack } from './start-stack.ts';
import { dataDirectory, realStateDirectory, removeDirectory } from '../servers/stack-state.ts';

/** Stops the servers and deletes their data and logs. Keeps ports and fetched binaries. Reports what it deletes. */
export async function resetStack(stateDir: string, report: Report): Promise<void> {
  const directory = realStateDirectory(stateDir);
  for (const name of await stopStack(directory, report)) report(`${name} stopped`);
  for (const path of [...PART_NAMES.map((name) => dataDirectory(directory, name)), join(directory, 'logs')]) {
    if (!existsSync(path)) continue;
    report(`deleting ${path}`);
    removeDirectory(path);
  }
}
