import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { Random } from '../kit/random.ts';
import { areas } from './areas.ts';
import { provedFiles } from './left-out.ts';

const root = join(import.meta.dirname, '..', '..');

/** How many test files fit into two minutes. */
const mostFiles = 30;

export interface ChangedTests {
  readonly files: readonly string[];
  /** Kinds of which the matrices make their cases. */
  readonly kinds: readonly string[];
  /** How many other files are of the same areas. */
  readonly left: number;
}

/** Test files by path from the root of the repository, and what they import of the repository. */
export type TestImports = ReadonlyMap<string, readonly string[]>;

/** The tests of what the working tree changes, compared with its last commit or another one. */
export function testsOfWorkingTree(seed: number, since = 'HEAD'): ChangedTests {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  const changed = [
    ...git('diff', '--name-only', '-z', since),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ].filter((file) => file !== '');
  return testsOf(changed, importsOfTests(), new Random(seed));
}

/**
 * The tests of some files: changed tests, those that import them, those of their area or room, and the matrices for changed kinds, in this
 * order. What does not fit is left out at random.
 */
export function testsOf(changed: readonly string[], imports: TestImports, random: Random): ChangedTests {
  const proved = provedFiles();
  const tests = [...imports.keys()].filter(
    (file) => isTest(file) && !file.startsWith('test/chaos/') && !proved.has(file),
  );
  const importers = importersOf(changed, imports);
  const kinds = [...new Set(changed.flatMap(kindOf))];
  const itself = tests.filter((file) => changed.includes(file));
  const near = tests.filter((file) => importers.has(file));
  const places = new Set(changed.map(placeOf));
  const placed = tests.filter((file) => file.split('/').some((word) => places.has(word)));
  const matrices =
    kinds.length === 0 ? [] : tests.filter((file) => (imports.get(file) ?? []).includes('test/kit/tried-kinds.ts'));
  const all = [
    ...new Set([...itself, ...random.shuffled(near), ...random.shuffled(matrices), ...random.shuffled(placed)]),
  ];
  return { files: all.slice(0, mostFiles), kinds, left: Math.max(0, all.length - mostFiles) };
}

/** The kind that a file declares, or whose rights it has: kinds are named as their files. */
function kindOf(file: string): string[] {
  const [, name] = /^entities\/(?!kit\/|presets\/)[\w-]+\/([\w-]+?)(?:\.rights\.yaml|\.ts)$/.exec(file) ?? [];
  if (name === undefined || !existsSync(join(root, dirname(file), `${name}.rights.yaml`))) return [];
  return [name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())];
}

const isTest = (file: string) => file.endsWith('.test.ts');

/** The area of a file, else the room: folders of tests are named after both. */
function placeOf(file: string): string {
  const words = dirname(file).split('/');
  return words.find((word) => areas.includes(word)) ?? (words[0] === 'test' ? '' : (words[0] ?? ''));
}

/** Tests that import one of the files, also by what tests share. */
function importersOf(changed: readonly string[], imports: TestImports): ReadonlySet<string> {
  const found = new Set(changed);
  for (const target of found) {
    for (const [file, targets] of imports) if (targets.includes(target)) found.add(file);
  }
  return found;
}

function importsOfTests(): TestImports {
  return new Map(
    globSync('test/**/*.ts', { cwd: root }).map((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const targets = [...text.matchAll(/(?:from|import) '((?:\.{1,2}\/|#)[^']+)'/g)].map(([, path = '']) =>
        path.startsWith('#') ? path.slice(1) : normalize(join(dirname(file), path)),
      );
      return [file, targets] as const;
    }),
  );
}
