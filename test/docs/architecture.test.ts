import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { rooms } from '#tools/generators/import-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

/** The rows of each walk, by its title. */
const walks = text
  .split(/^### /m)
  .slice(1)
  .map((walk) => ({
    title: walk.split('\n')[0] ?? '',
    rows: [...walk.matchAll(/^\d+\. (.*)$/gm)].map(([, row]) => row),
  }));

test('ARCHITECTURE.md has at most 1,500 words, and a glossary of at most 15', () => {
  expect(text.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(1_500);
  expect([...text.matchAll(/^\| (?!Word|---)/gm)].length).toBeLessThanOrEqual(15);
});

describe('walks of ARCHITECTURE.md', () => {
  test('three, each of at most ten rows', () => {
    expect(walks).toHaveLength(3);
    for (const { rows } of walks) {
      expect(rows.length).toBeGreaterThan(5);
      expect(rows.length).toBeLessThanOrEqual(10);
    }
  });

  test.each(walks)('$title: each row begins with a file that exists', ({ rows }) => {
    const files = rows.map((row) => /^`([\w./-]+\.ts)` /.exec(row ?? '')?.[1] ?? `no file: ${row}`);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

test('the parts of the tree import in the direction that ARCHITECTURE.md gives', () => {
  const chain = /^`([\w ]+(?: < \w+)+)`/m.exec(text)?.[1]?.split(' < ') ?? [];
  expect(chain).toContain('relay');
  const partOf = (path: string) => path.split('/')[0] as string;
  const against = rooms.flatMap(({ path, imports }) =>
    imports
      .filter((other) => [path, other].every((one) => chain.includes(partOf(one))))
      .filter((other) => chain.indexOf(partOf(other)) > chain.indexOf(partOf(path)))
      .map((other) => `${path} imports ${other}`),
  );
  expect(against).toEqual([]);
});
