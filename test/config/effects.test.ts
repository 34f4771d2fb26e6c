import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { effectPaths } from '#config/objects/leaf.ts';
import { pendingCapability, pendingPaths } from '#config/objects/pending.ts';
import { checkEffects } from './check-effects.ts';
import { effects } from './effects.ts';

const repository = join(import.meta.dirname, '..', '..');

/** The path and those of all objects above it. */
function prefixesOf(path: string): string[] {
  const parts = path.split('.');
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}

describe('the table of effects', () => {
  test('has every leaf of the configuration that is not pending, and no other', () => {
    const withEffect = effectPaths().filter((path) => pendingCapability(path) === undefined);
    expect(Object.keys(effects).toSorted()).toEqual(withEffect.toSorted());
  });

  test('leaves nothing to the list of pending fields that is not a field', () => {
    const known = new Set(effectPaths().flatMap((path) => prefixesOf(path.replaceAll('[]', ''))));
    expect(pendingPaths.filter((path) => !known.has(path))).toEqual([]);
  });

  test('names tests that exist', async () => {
    for (const [path, effect] of Object.entries(effects)) {
      const [file = '', ...titles] = effect.test.split(' > ');
      expect(file, path).toMatch(/^test\/.+\.test\.ts$/u);
      expect(titles.length, path).toBeGreaterThan(0);
      const source = await readFile(join(repository, file), 'utf8');
      const title = titles.at(-1) ?? '';
      const isThere = ["'", '"', '`'].some(
        (quote) => source.includes(`test(${quote}${title}${quote}`) || source.includes(`it(${quote}${title}${quote}`),
      );
      expect(isThere, `${path}: ${effect.test}`).toBe(true);
    }
  });
});

describe('checkEffects', () => {
  const table = {
    a: { test: 'test/a.test.ts > shows a' },
    b: { test: 'test/b.test.ts > shows b', readBy: 'config' },
  } as const;

  test('finds a named test that did not run', () => {
    expect(checkEffects(table, { ran: new Set(['test/a.test.ts > shows a']), read: new Set(['a']) })).toEqual([
      'b: its test did not run: test/b.test.ts > shows b',
    ]);
  });

  test('finds a leaf that nobody read, unless its effect is within config/', () => {
    const ran = new Set(['test/a.test.ts > group > shows a', 'test/b.test.ts > shows b']);
    expect(checkEffects(table, { ran, read: new Set(['b']) })).toEqual([
      'a: called effective, but nobody outside config/ read it',
    ]);
  });

  test('does not take a test of the same title in another file for the named one', () => {
    const ran = new Set(['test/other.test.ts > shows a', 'test/b.test.ts > shows b']);
    expect(checkEffects(table, { ran, read: new Set(['a']) })).toEqual([
      'a: its test did not run: test/a.test.ts > shows a',
    ]);
  });

  test('is content with a run that shows everything', () => {
    const ran = new Set(['test/a.test.ts > group > inner > shows a', 'test/b.test.ts > shows b']);
    expect(checkEffects(table, { ran, read: new Set(['a']) })).toEqual([]);
  });
});
