import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../kit/random.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * With this line a test file begins that takes minutes, and of which `npm test` has a short proof elsewhere, which the line names: it is
 * left to `npm run prove`.
 */
const mark = /^\/\/ Left to npm run prove; npm test has (\S+)\.\n/;

/** Files of `test/chaos` that one run of `npm test` has. Each starts servers and processes of its own and takes one to three minutes. */
const turnsEach = 2;

/** Files that only `npm run prove` has, and the file that stands for each in `npm test`. */
export function provedFiles(): ReadonlyMap<string, string> {
  const files = globSync('test/**/*.test.ts', { cwd: root }).toSorted();
  return new Map(
    files.flatMap((file) => {
      const [, short] = mark.exec(readFileSync(join(root, file), 'utf8')) ?? [];
      return short === undefined ? [] : [[file, short] as const];
    }),
  );
}

/**
 * Files that a run of the whole suite leaves to `npm run prove`, and those of `test/chaos` that it leaves to other seeds, by their paths in
 * the project; none where files or options were named on the command line.
 */
export function leftOut(seed: number, argv: readonly string[] = process.argv): readonly string[] {
  if (argv.length > 2) return [];
  const chaos = globSync('test/chaos/*.test.ts', { cwd: root }).toSorted();
  return [...provedFiles().keys(), ...new Random(seed).shuffled(chaos).slice(turnsEach)].toSorted();
}
