import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md'], { cwd: root });

/** Ids of the headings of a page, as GitHub makes them. */
function headingIds(file: string): string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function brokenLinks(page: string): string[] {
  const targets = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)];
  return targets.flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', heading] = target.split('#', 2);
    const file = path === '' ? page : join(dirname(page), path);
    const isThere = existsSync(join(root, file));
    const hasHeading =
      heading === undefined || !file.endsWith('.md') || (isThere && headingIds(file).includes(heading));
    return isThere && hasHeading ? [] : [`${page}: ${target}`];
  });
}

test('links of the documents lead to files and headings that exist', () => {
  expect(pages).toContain('README.md');
  expect(pages.flatMap(brokenLinks)).toEqual([]);
});
