import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../kit/random.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * With this line a test file begins that takes minutes, and of which `npm test` has a short proof elsewhere, which the line names: it is
 * left to `npm run prove`.
 */
const provedMark = /^\/\/ Left to npm run prove; npm test has (\S+)\.$/;

/**
 * With this line a test file begins that no change of a route, a kind or a rule can break: it tests machinery such as sockets, the relay or
 * worker processes.
 */
const turnMark = '// Takes turns by the seed: npm test has a third of these files, npm run prove has all.';

/** Of each test file. */
const firstLines: ReadonlyMap<string, string> = new Map(
  globSync('test/**/*.test.ts', { cwd: root })
    .toSorted()
    .map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n', 1).join('')]),
);

/** Files that only `npm run prove` has, and the file that stands for each in `npm test`. */
export function provedFiles(): ReadonlyMap<string, string> {
  return new Map(
    [...firstLines].flatMap(([file, line]) => {
      const [, short] = provedMark.exec(line) ?? [];
      return short === undefined ? [] : [[file, short] as const];
    }),
  );
}

/** Files of which a run of `npm test` has some, by its seed, and how many. A file of `test/chaos` kills processes for minutes. */
export function filesThatTakeTurns(): readonly { readonly files: readonly string[]; readonly each: number }[] {
  const files = [...firstLines.keys()];
  const marked = files.filter((file) => firstLines.get(file) === turnMark);
  return [
    {
      files: files.filter((file) => file.startsWith('test/chaos/') && !provedMark.test(firstLines.get(file) ?? '')),
      each: 1,
    },
    { files: marked, each: Math.ceil(marked.length / 3) },
  ];
}

/**
 * Files that a run of the whole suite leaves to `npm run prove` and to other seeds, by their paths in the project; none where the command
 * line names files, directly or by what is changed.
 */
export function leftOut(seed: number, argv: readonly string[] = process.argv): readonly string[] {
  if (argv.slice(2).some((arg) => !arg.startsWith('-') || arg.startsWith('--changed'))) return [];
  const random = new Random(seed);
  const turns = filesThatTakeTurns().flatMap(({ files, each }) => random.shuffled(files).slice(each));
  return [...provedFiles().keys(), ...turns].toSorted();
}
