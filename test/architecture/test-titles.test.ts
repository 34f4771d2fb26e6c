import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..');
/** A call of `test` or `describe` that is in no other one, with its title. Those with cases have the title in a second call. */
const outerTitle =
  /^(?:(?:test|it|describe)(?:\.\w+)?\(|(?:test|it|describe)\.\w+\(.*\)\(|[\])}].*\)\()\s*(['"`])((?:(?!\1)[^\\]|\\.)+)\1/gm;
/** Verbs and pronouns with which no sentence begins that has a subject. */
const lacksSubject =
  /^(?:T-\d+(?:, T-\d+)*: )?(?:it|they|is|are|was|were|has|have|does|nor|so|also|then|refused|accepts|adds|answers to|asks|begins|belongs|changes nothing|decodes|deletes|encodes|ends|follows|gets|gives|installs|keeps|needs|passes an|says|sends|shows|takes|tells|works)\b/;

function titlesWithoutSubject(text: string): string[] {
  return [...text.matchAll(outerTitle)].map(([, , title = '']) => title).filter((title) => lacksSubject.test(title));
}

test('the title of a test begins with its subject, of its own or of the group that it is in', () => {
  const files = globSync('**/*.test.ts', { cwd: folder });
  expect(files.length).toBeGreaterThan(200);
  const found = files.flatMap((file) =>
    titlesWithoutSubject(readFileSync(join(folder, file), 'utf8')).map(
      (title) => `test/${file}: "${title}" has no subject`,
    ),
  );
  expect(found).toEqual([]);
});

test('titles without a subject are noticed, alone, of groups and of cases', () => {
  const text = [
    "test('is refused', () => {});",
    "describe('T-01: it ends', () => {",
    "  test('has its subject in the group', () => {});",
    '});',
    "test.each([1])('gets %s', () => {});",
    'test.each([',
    '  [1],',
    "])('T-01, T-02: says %s', () => {});",
    "test('a token is refused', () => {});",
  ];
  expect(titlesWithoutSubject(text.join('\n'))).toEqual([
    'is refused',
    'T-01: it ends',
    'gets %s',
    'T-01, T-02: says %s',
  ]);
});
