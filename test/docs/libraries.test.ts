import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;

test('libraries that docs/decisions/libraries-not-taken.md names as not taken are no dependencies of the product', () => {
  const rows = read('docs/decisions/libraries-not-taken.md').matchAll(/^\|[^|]+\|([^|]+)\|[^|]+\|$/gm);
  const libraries = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  expect(libraries.length).toBeGreaterThan(20);
  expect(libraries.filter((name) => dependencies?.[name] !== undefined)).toEqual([]);
});

test('the record on resumable uploads describes the installed version of @tus/server', () => {
  const version = devDependencies?.['@tus/server'];
  expect(read('docs/decisions/tus-without-its-server.md')).toContain(`\`@tus/server\` ${version} `);
});
