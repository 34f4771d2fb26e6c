import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');

/** The files with tests of each case, by its id, as their texts name it. */
function casesIn(texts: Readonly<Record<string, string>>): Record<string, string[]> {
  const cases: Record<string, string[]> = {};
  for (const [file, text] of Object.entries(texts))
    for (const id of new Set(text.match(/\bT-\d{2,3}\b/g))) (cases[id] ??= []).push(file);
  return cases;
}

/** The same as the page lists it. */
function casesOf(page: string): Record<string, string[]> {
  const rows = page.matchAll(/^\| (T-\d+) +\| \S.*?\| (.*?) *\|$/gm);
  return Object.fromEntries(
    [...rows].map(([, id = '', files = '']) => [id, [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)]),
  );
}

test('docs/security-cases.md lists the security cases of all tests, with their files, and no others', () => {
  const files = globSync('**/*.test.ts', { cwd: folder }).toSorted();
  const texts = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  delete texts['docs/security-cases.test.ts'];
  const page = readFileSync(join(folder, '../docs/security-cases.md'), 'utf8');
  expect(casesOf(page)).toEqual(casesIn(texts));
});

test('a case that only the tests or only the page has is noticed', () => {
  const page = casesOf('| T-01 | It is refused. | `a.test.ts`, `b.test.ts` |\n| T-02 | It ends. | `a.test.ts` |');
  expect(page).toEqual({ 'T-01': ['a.test.ts', 'b.test.ts'], 'T-02': ['a.test.ts'] });
  expect(casesIn({ 'a.test.ts': "test('T-01: a')", 'b.test.ts': "test('T-01, T-03: b')" })).toEqual({
    'T-01': ['a.test.ts', 'b.test.ts'],
    'T-03': ['b.test.ts'],
  });
});
