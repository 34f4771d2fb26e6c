import { isBuiltin } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';
import { importsByName, packageHomes, roomOf, type Room } from '#tools/generators/import-table.ts';

/** Source files with their text, by path from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  /** A path from the root for files of ours, else the name of a package; undefined when it is computed at run time. */
  readonly target: string | undefined;
  readonly isOwn: boolean;
  readonly isRelative: boolean;
  /** The import is erased: all it names are types. */
  readonly isType: boolean;
}

/** Types of another file by its path: `import('./a.ts').A`. */
const importTypePattern = /\bimport\(\s*(?:'([^']+)'|"([^"]+)")/g;

/** Imports and re-exports of a file, those of types included. @throws SyntaxError */
function importsOf(file: string, text: string): Import[] {
  const { module, errors } = parseSync(file, text);
  const [error] = errors;
  if (error) throw new SyntaxError(`${file}: ${error.message}`);
  const entries = [
    ...module.staticImports.map((one) => ({ specifier: one.moduleRequest.value, entries: one.entries })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) =>
        entry.moduleRequest ? { specifier: entry.moduleRequest.value, entries: [entry] } : [],
      ),
    ),
  ];
  const computed = module.dynamicImports.filter(({ moduleRequest: { start } }) => !/['"]/.test(text[start] ?? ''));
  return [
    ...entries.map((one) =>
      importOf(file, one.specifier, one.entries.length > 0 && one.entries.every(({ isType }) => isType)),
    ),
    ...[...text.matchAll(importTypePattern)].map(([, single, double]) => importOf(file, (single ?? double) as string)),
    ...computed.map(() => ({ target: undefined, isOwn: true, isRelative: true, isType: false })),
  ];
}

function importOf(file: string, specifier: string, isType = false): Import {
  const isRelative = specifier.startsWith('.');
  const isOwn = isRelative || specifier.startsWith('#');
  const target = isRelative ? normalize(join(dirname(file), specifier)) : specifier.replace(/^#/, '');
  return { target: isOwn ? target : specifier, isOwn, isRelative, isType };
}

/** Imports that the table does not allow, one line each. */
export function forbiddenImports(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const room = roomOf(file);
    if (!room) return [];
    return importsOf(file, text).flatMap(({ target, ...one }) => {
      if (target === undefined) {
        return importsByName.includes(file) ? [] : [`${file} imports a path that is computed at run time`];
      }
      const problem = one.isOwn ? roomProblem(file, room, target, one) : packageProblem(room, target, one);
      return problem ? [`${file} imports ${target}: ${problem}`] : [];
    });
  });
}

function roomProblem(
  file: string,
  room: Room,
  target: string,
  { isRelative, isType }: Pick<Import, 'isRelative' | 'isType'>,
): string | undefined {
  if (!target.endsWith('.ts')) return 'imports end in .ts';
  const isSameArea = target.split('/')[0] === file.split('/')[0];
  if (isSameArea !== isRelative)
    return isSameArea
      ? 'files of one area are imported by relative paths'
      : 'files of other areas are imported by #area';
  const other = roomOf(target);
  if (!other) return 'it belongs to no room';
  if (other === room) {
    const depth = room.path.split('/').length;
    const folderOf = (path: string) => path.split('/').slice(0, depth).join('/');
    return folderOf(file) === folderOf(target) ? undefined : `${room.path} rooms do not import each other`;
  }
  const isAllowed = room.imports.includes(other.path) || (isType && room.typeImports?.includes(other.path));
  return isAllowed ? undefined : `${room.path} may not import ${other.path}`;
}

function packageProblem(room: Room, target: string, { isType }: Pick<Import, 'isType'>): string | undefined {
  if (target === 'node:module' || target === 'module') return 'modules are imported, not required';
  if (target.startsWith('/')) return 'paths begin at the importing file';
  if (room.isSandboxed && isBuiltin(target)) return 'the workflow sandbox has no Node modules';
  const homes = Object.entries(packageHomes).find(([name]) => target === name || target.startsWith(`${name}/`))?.[1];
  return !homes || isType || homes.includes(room.path) ? undefined : `the package belongs to ${homes.join(', ')}`;
}

/** What each file imports, type imports included: paths from the root of the repository, and names of packages. @throws SyntaxError */
export function importTargets(sources: Sources): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sources].map(([file, text]) => [file, importsOf(file, text).flatMap(({ target }) => target ?? [])]),
  );
}

/** Circles of imports between files, type imports included. */
export function importCircles(sources: Sources): string[][] {
  const known = [...importTargets(sources)].map(
    ([file, targets]) => [file, targets.filter((target) => sources.has(target))] as const,
  );
  return stronglyConnected(new Map(known)).filter((files) => files.length > 1);
}

/** Tarjan's algorithm: groups of nodes that reach each other. */
function stronglyConnected(targets: ReadonlyMap<string, readonly string[]>): string[][] {
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    indexes.set(node, indexes.size);
    lowest.set(node, indexes.get(node) as number);
    stack.push(node);
    for (const target of targets.get(node) ?? []) {
      if (!indexes.has(target)) visit(target);
      if (stack.includes(target)) lowest.set(node, Math.min(lowest.get(node) as number, lowest.get(target) as number));
    }
    if (lowest.get(node) === indexes.get(node)) groups.push(stack.splice(stack.indexOf(node)));
  };
  for (const node of targets.keys()) if (!indexes.has(node)) visit(node);
  return groups;
}

/**
 * Folders that hold more than `max` source files themselves, with their number of files; migrations are not included, which only become
 * more.
 */
export function crowdedFolders(sources: Sources, max: number): string[] {
  const counted = [...sources.keys()].filter((file) => !/\/migration-\d/.test(file));
  const folders = Map.groupBy(counted, (file) => dirname(file));
  return [...folders].filter(([, files]) => files.length > max).map(([folder, files]) => `${folder}: ${files.length}`);
}

const oneInEachFolder: ReadonlySet<string> = new Set(['index.ts', 'definition.ts']);

/** Files that share their name with another one, besides lists of folders and definitions of integrations. */
export function repeatedNames(sources: Sources): string[] {
  const names = Map.groupBy(sources.keys(), (file) => file.slice(file.lastIndexOf('/') + 1));
  return [...names]
    .filter(([name, files]) => !oneInEachFolder.has(name) && files.length > 1)
    .flatMap(([, files]) => files);
}
