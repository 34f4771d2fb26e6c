import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesThatTakeTurns, provedFiles } from './left-out.ts';

/**
 * Test files that try a sample of something, which `npm run prove` tries whole: those that ask for the depth of the run, and those that a
 * run of the suite leaves out (`leftOut`).
 */
export function matrixFiles(root: string): string[] {
  const left = new Set([...provedFiles().keys(), ...filesThatTakeTurns().flatMap(({ files }) => files)]);
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => left.has(file) || /\/kit\/depth\.ts'/.test(readFileSync(join(root, file), 'utf8')))
    .toSorted();
}
