import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
const turnMark = '// Takes turns by the seed: npm test has some of these files, npm run prove has all.';

/** What cases of all kinds, routes or rules are made with. A file of these folders that imports it runs each time, with a sample of its cases. */
const breadth = /\/kit\/(?:depth|tried|tried-kinds)\.ts'/;
const breadthFolders = /^test\/(?:entities|security|api\/(?:description|graphql|records))\//;

/** Folders with a test file for each thing that a feature does. */
const featureFolders = /^test\/(?:api|entities|relay|security|whole|worker|workflows)\//;

/**
 * Files of a run of `npm test`, however many there are: of those that are marked, and of the folders of features together. So a run takes
 * as long when the product has doubled.
 */
const markedOfRun = 15;
const featuresOfRun = 60;

const texts: ReadonlyMap<string, string> = new Map(
  globSync('test/**/*.test.ts', { cwd: root })
    .toSorted()
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

/** Of each test file. */
const firstLines: ReadonlyMap<string, string> = new Map(
  [...texts].map(([file, text]) => [file, text.split('\n', 1).join('')]),
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

/**
 * Files of which a run of `npm test` has some, by its seed, and how many: one of `test/chaos`, which kill processes for minutes; some
 * of those that are marked; at least one of each folder of features, and more of the larger ones.
 */
export function filesThatTakeTurns(): readonly { readonly files: readonly string[]; readonly each: number }[] {
  const proved = provedFiles();
  const always = new Set(proved.values());
  const files = [...firstLines.keys()].filter((file) => !proved.has(file) && !always.has(file));
  const isChaos = (file: string) => file.startsWith('test/chaos/');
  const isMarked = (file: string) => firstLines.get(file) === turnMark;
  const features = files.filter(
    (file) =>
      featureFolders.test(file) &&
      !isMarked(file) &&
      !(breadthFolders.test(file) && breadth.test(texts.get(file) ?? '')),
  );
  return [
    { files: files.filter(isChaos), each: 1 },
    { files: files.filter(isMarked), each: markedOfRun },
    ...[...Map.groupBy(features, dirname).values()].map((some) => ({
      files: some,
      each: Math.max(1, Math.round((some.length * featuresOfRun) / features.length)),
    })),
  ];
}

/**
 * Files that a run of the whole suite leaves to `npm run prove` and to other seeds, by their paths in the project; none where the command
 * line names files, directly or by what is changed.
 * @param changed finds the files that run in any case: the tests of what was changed last
 */
export function leftOut(
  seed: number,
  {
    argv = process.argv,
    changed = () => [],
  }: { readonly argv?: readonly string[]; readonly changed?: () => readonly string[] } = {},
): readonly string[] {
  if (argv.slice(2).some((arg) => !arg.startsWith('-') || arg.startsWith('--changed'))) return [];
  const random = new Random(seed);
  const turns = filesThatTakeTurns().flatMap(({ files, each }) => random.shuffled(files).slice(each));
  const always = new Set(changed());
  return [...provedFiles().keys(), ...turns.filter((file) => !always.has(file))].toSorted();
}
