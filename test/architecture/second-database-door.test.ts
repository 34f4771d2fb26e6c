import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const folder = 'entities/kit/storage/second/';

/** Where a hook of it is registered, with what is said of it there. */
const registered = {
  'migrations/registered-hook.ts': ['secondDatabaseSchema', 'second/second-database-schema', 'secondDatabaseSchema'],
  'runtime/configured-database.ts': [
    'SecondDatabaseHook',
    'second/second-database-hook',
    'multiwrite',
    'SecondDatabaseHook',
    'secondarydbsource',
  ],
};

test('the second database is named in its folder and where its hooks are registered, and nowhere else', () => {
  const areas = ['activities', 'api', 'entities', 'migrations', 'relay', 'runtime', 'tools', 'worker', 'workflows'];
  const files = areas.flatMap((area) =>
    readdirSync(join(root, area), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${area}/${file}`),
  );
  const mentions = files
    .filter((file) => !file.startsWith(folder))
    .flatMap((file): [string, string[]][] => {
      const found = readFileSync(join(root, file), 'utf8').match(
        /\w*(?:second\/)?second[- ]?database[-\w]*|multiwrite|secondary\w*|\w*row[-_ ]?images?\w*|two databases/gi,
      );
      return found ? [[file, [...found]]] : [];
    });
  expect(files.filter((file) => file.startsWith(folder)).length).toBeGreaterThan(5);
  expect(Object.fromEntries(mentions)).toEqual(registered);
});
