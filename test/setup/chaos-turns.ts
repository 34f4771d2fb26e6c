import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Random } from '../kit/random.ts';

/** Files of `test/chaos` that one run of `npm test` has. Each starts servers and processes of its own and takes one to three minutes. */
const turnsEach = 3;

/**
 * Files of `test/chaos` that a run of the whole suite leaves to other seeds and to `npm run prove`, by their paths in the project; none
 * where files or options were named on the command line.
 */
export function chaosLeftOut(seed: number, argv: readonly string[] = process.argv): readonly string[] {
  if (argv.length > 2) return [];
  const files = globSync('test/chaos/*.test.ts', { cwd: fileURLToPath(new URL('../..', import.meta.url)) }).toSorted();
  return new Random(seed).shuffled(files).slice(turnsEach).toSorted();
}
