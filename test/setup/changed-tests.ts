import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { importTargets } from '../architecture/import-graph.ts';
import { Random } from '../kit/random.ts';
import { provedFiles } from './left-out.ts';

const root = join(import.meta.dirname, '..', '..');

/** How many test files fit into two minutes. */
const mostFiles = 30;
/** The same in a run of the whole suite, which has others of the same areas. */
const mostOfWholeRun = 10;

export interface ChangedTests {
  readonly files: readonly string[];
  /** Kinds of which the matrices make their cases. */
  readonly kinds: readonly string[];
  /** How many other files are of the same areas. */
  readonly left: number;
}

/** Source files by path from the root of the repository, and what they import of it. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The tests of what the working tree changes, compared with its last commit or another one. */
export function testsOfWorkingTree(seed: number, since = 'HEAD'): ChangedTests {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  const changed = [
    ...git('diff', '--name-only', '-z', since),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ].filter((file) => file !== '');
  return testsOf(changed, importsOfSources(), new Random(seed));
}

/** The tests of what the last commit and the working tree change; none where there is no commit before it, as in a shallow copy. */
export function testsOfLastChange(seed: number): readonly string[] {
  const found = spawnSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD^'], { cwd: root });
  return found.status === 0 ? testsOfWorkingTree(seed, 'HEAD^').files.slice(0, mostOfWholeRun) : [];
}

/**
 * The tests of some files: changed tests, those that import them, the matrices for changed kinds, and those of their places, in this order.
 * What does not fit is left out at random.
 */
export function testsOf(changed: readonly string[], imports: Imports, random: Random): ChangedTests {
  const all = [...imports.keys()].filter(isTest);
  const proved = provedFiles();
  const quick = all.filter((file) => !file.startsWith('test/chaos/') && !proved.has(file));
  const importers = importersOf(changed, imports, (file) => file.startsWith('test/'));
  const kinds = [...new Set(changed.flatMap(kindOf))];
  const matrices =
    kinds.length === 0 ? [] : quick.filter((file) => (imports.get(file) ?? []).includes('test/kit/tried-kinds.ts'));
  const places = placesOf(changed, imports, foldersOf(quick));
  const chosen = new Set([
    ...all.filter((file) => changed.includes(file)),
    ...random.shuffled(quick.filter((file) => importers.has(file))),
    ...random.shuffled(matrices),
    ...random.shuffled(quick.filter((file) => file.split('/').some((word) => places.has(word)))),
  ]);
  // Where more than kinds is changed, the matrices are for all kinds.
  const isOfKinds = (file: string) =>
    isTest(file) || kindOf(file).length > 0 || /^entities\/[\w-]+\/index\.ts$/.test(file);
  const isAllKinds = !changed.every(isOfKinds);
  const files = [...chosen].slice(0, mostFiles);
  return { files, kinds: isAllKinds ? [] : kinds, left: chosen.size - files.length };
}

/** The kind that a file declares, or whose rights it has: kinds are named as their files. */
function kindOf(file: string): string[] {
  const [, name] = /^entities\/(?!kit\/|presets\/)[\w-]+\/([\w-]+?)(?:\.rights\.yaml|\.ts)$/.exec(file) ?? [];
  if (name === undefined || !existsSync(join(root, dirname(file), `${name}.rights.yaml`))) return [];
  return [name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())];
}

const isTest = (file: string) => file.endsWith('.test.ts');

/** Folders of tests, which are named after areas and rooms. */
function foldersOf(tests: readonly string[]): ReadonlySet<string> {
  return new Set(tests.flatMap((file) => dirname(file).split('/').slice(1)));
}

/**
 * The folders of tests that files belong to, by the last word of their path that names one; of a file without one, those of the files that
 * import it.
 */
function placesOf(changed: readonly string[], imports: Imports, folders: ReadonlySet<string>): ReadonlySet<string> {
  const placeOf = (file: string) =>
    file.startsWith('test/')
      ? undefined
      : dirname(file)
          .split('/')
          .findLast((word) => folders.has(word));
  const users = importersOf(
    changed,
    imports,
    (file) => !file.startsWith('test/'),
    (file) => placeOf(file) === undefined,
  );
  return new Set([...users].flatMap((file) => placeOf(file) ?? []));
}

/** Files and those that import them, directly or by others, as far as `isFollowed` says. */
function importersOf(
  changed: readonly string[],
  imports: Imports,
  isImporter: (file: string) => boolean,
  isFollowed: (file: string) => boolean = () => true,
): ReadonlySet<string> {
  const found = new Set(changed);
  // A set goes through what is added to it meanwhile.
  for (const target of found) {
    if (!isFollowed(target)) continue;
    for (const [file, targets] of imports) if (isImporter(file) && targets.includes(target)) found.add(file);
  }
  return found;
}

function importsOfSources(): Imports {
  const files = globSync(
    '{api,activities,config,entities,migrations,relay,runtime,temporal-dev,test,tools,worker,workflows}/**/*.ts',
    { cwd: root },
  );
  return importTargets(new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)));
}
