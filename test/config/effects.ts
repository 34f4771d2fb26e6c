import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acceptedPaths, effectPaths } from '#config/objects/leaf.ts';
import { pendingCapability } from '#config/objects/pending.ts';
import type { ShownLeaf } from '../kit/shows.ts';

const root = join(import.meta.dirname, '..', '..');

/** Every leaf of the configuration that has an effect; the others are pending (config/objects/pending.ts), or accepted without one. */
export function effectiveLeaves(): string[] {
  return effectPaths().filter((path) => pendingCapability(path) === undefined && !acceptedPaths.includes(path));
}

/** A leaf that a test file says it shows, as it is written there: `${…}` stands for one name. */
export interface WrittenLeaf {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly leaf: string;
}

const calls = /\bshows(?:WithinConfig)?\(([^()]*)\)/g;
const literal = /^(?:'([^']+)'|`([^`]+)`)$/;

/** The leaves of all calls of `shows` in a test file. @throws Error for an argument that is no literal */
export function leavesIn(file: string, source: string): WrittenLeaf[] {
  const written = [...source.matchAll(calls)].flatMap(([, list = '']) => list.split(',').map((text) => text.trim()));
  return written.filter(Boolean).map((text) => {
    const [, quoted, template] = literal.exec(text) ?? [];
    const leaf = quoted ?? template;
    if (leaf === undefined) throw new Error(`${file} shows ${text}, which is no literal`);
    return { file, leaf };
  });
}

/** The leaves that the test files say they show, collected from their sources. */
export function writtenLeaves(): WrittenLeaf[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .toSorted()
    .flatMap((file) => leavesIn(file, readFileSync(join(root, file), 'utf8')));
}

/** Whether a leaf is meant by one that is written in a test file. */
export function isMeant(path: string, leaf: string): boolean {
  const parts = leaf.split(/\$\{[^}]*\}/).map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('[^.]+')}$`).test(path);
}

/** What a run of the suite has seen. */
export interface SuiteRun {
  /** By tests that passed. */
  readonly shown: readonly ShownLeaf[];
  /** Leaves that are written in files which only other seeds and `npm run prove` run. */
  readonly leftOut: readonly string[];
  /** The leaves that code outside `config/` read, as `ConfigStore` records them; undefined for a run that leaves out files, which may be those that read. */
  readonly read: ReadonlySet<string> | undefined;
}

/** The leaves without an effect in a run of the suite: no test that passed shows it, or nothing outside `config/` read it. */
export function checkEffects(leaves: readonly string[], { shown, leftOut, read }: SuiteRun): string[] {
  const byLeaf = Map.groupBy(shown, ({ leaf }): string => leaf);
  return leaves.flatMap((path) => {
    const own = byLeaf.get(path);
    if (!own) return leftOut.some((leaf) => isMeant(path, leaf)) ? [] : [`${path}: no test that passed shows it`];
    const isRead = read?.has(path) ?? true;
    return isRead || own.every(({ isWithinConfig }) => isWithinConfig)
      ? []
      : [`${path}: shown, but nothing outside config/ read it`];
  });
}
