import type { Effect } from './effects.ts';

/** What a run of the suite has seen. */
export interface SuiteRun {
  /** The tests that ran and passed: file, ` > `, titles joined by ` > `. */
  readonly ran: ReadonlySet<string>;
  /** The leaves that code outside `config/` read, as `ConfigStore` records them. */
  readonly read: ReadonlySet<string>;
}

/**
 * What contradicts the table of effects after a whole run of the suite: a named test that did not run, a leaf called
 * effective that nobody read. An entry may leave out the titles of the groups around its test.
 */
export function checkEffects(effects: Readonly<Partial<Record<string, Effect>>>, { ran, read }: SuiteRun): string[] {
  const ranByFileAndTitle = new Set([...ran].map(shorten));
  return Object.entries(effects).flatMap(([path, effect]) => {
    if (!effect) return [];
    const violations: string[] = [];
    if (!ran.has(effect.test) && !ranByFileAndTitle.has(effect.test))
      violations.push(`${path}: its test did not run: ${effect.test}`);
    if (!('readBy' in effect) && !read.has(path))
      violations.push(`${path}: called effective, but nobody outside config/ read it`);
    return violations;
  });
}

/** File and last title of a test's full name. */
function shorten(name: string): string {
  const parts = name.split(' > ');
  return `${parts[0] ?? ''} > ${parts.at(-1) ?? ''}`;
}
