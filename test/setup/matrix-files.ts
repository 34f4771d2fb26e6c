import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Test files that try a sample of something, which `npm run prove` tries whole: those that ask for the depth of the run, and those of
 * which a run of the suite has some (`chaosLeftOut`).
 */
export function matrixFiles(root: string): string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter(
      (file) => file.startsWith('test/chaos/') || /\/kit\/depth\.ts'/.test(readFileSync(join(root, file), 'utf8')),
    )
    .toSorted();
}
