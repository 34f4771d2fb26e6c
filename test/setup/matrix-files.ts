import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Test files that try a sample of something, which `npm run prove` tries whole: those that ask for the depth of the run. */
export function matrixFiles(root: string): string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => /\/kit\/depth\.ts'/.test(readFileSync(join(root, file), 'utf8')))
    .toSorted();
}
