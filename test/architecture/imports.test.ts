import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { crowdedFolders, forbiddenImports, importCircles, repeatedNames, type Sources } from './import-graph.ts';
import { repositoryFiles } from '../kit/repository-files.ts';
import { roomOf, rooms } from '#tools/generators/import-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const tracked: Sources = new Map(
  repositoryFiles()
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
const areas = new Set([...rooms.map(({ path }) => path.split('/')[0]), 'temporal-dev']);
const product: Sources = new Map([...tracked].filter(([file]) => areas.has(file.split('/')[0])));

/** The product with a file added, or with a line added to one of its files. */
function planted(file: string, line: string): Sources {
  return new Map([...product, [file, `${line}\n${product.get(file) ?? ''}`]]);
}

describe('rooms', () => {
  test('every source file belongs to a room', () => {
    const outsideRooms = /^(?:test|temporal-dev)\/|^[^/]+$/;
    expect([...tracked.keys()].filter((file) => !outsideRooms.test(file) && !roomOf(file))).toEqual([]);
  });

  test('every room has files', () => {
    const used = new Set([...product.keys()].map((file) => roomOf(file)?.path));
    expect(rooms.filter(({ path }) => !used.has(path))).toEqual([]);
  });

  test('files import only what the table allows', () => {
    expect(forbiddenImports(product)).toEqual([]);
  });

  test.each([
    ['a room above', 'entities/kit/read/rows.ts', "import { newRows } from '../write/creations.ts';"],
    ['a type of a room above', 'entities/kit/base/ids.ts', "import type { Caller } from '../model/caller.ts';"],
    ['what sends statements', 'api/app.ts', "import { Transaction } from '#entities/kit/storage/transaction.ts';"],
    ['another area', 'relay/outbox/relay.ts', "import { buildApp } from '#api/app.ts';"],
    ['a kind of another area', 'entities/work/task.ts', "import { file } from '../files/file.ts';"],
    ['activity code from a workflow', 'workflows/email/send-email.ts', "import { x } from '#activities/email/x.ts';"],
    ['a package of another room', 'relay/outbox/relay.ts', "import { sql } from 'kysely';"],
    ['a Node module in the workflow sandbox', 'workflows/email/send-email.ts', "import 'node:fs';"],
    ['a Node module without its prefix in the sandbox', 'workflows/kit/interceptors.ts', "import fs from 'fs';"],
    ['a computed path', 'api/app.ts', 'const route = await import(`./http/route.ts`);'],
    ['modules to require them', 'api/app.ts', "import { createRequire } from 'node:module';"],
    [
      'a room above with a comment',
      'entities/kit/read/rows.ts',
      'import { /* it\'s */ a } from "../write/creations.ts";',
    ],
    ['a room above after other code', 'entities/kit/read/rows.ts', "let a; import '../write/creations.ts';"],
    ['a room above at run time', 'entities/kit/read/rows.ts', "await import('../write/creations.ts', { with: {} });"],
    ['types of a room above by path', 'entities/kit/read/rows.ts', "let a: import('../write/creations.ts').A;"],
    ['its own area by #area', 'api/app.ts', "import { route } from '#api/http/route.ts';"],
    ['a file without .ts', 'api/app.ts', "import { route } from './http/route';"],
  ])('finds a file that imports %s', (_what, file, line) => {
    const text = planted(file, line).get(file) ?? '';
    expect(forbiddenImports(new Map([[file, text]]))).toEqual([expect.stringContaining(file)]);
  });
});

describe('shape of the tree', () => {
  test('no circle of imports, types included', () => {
    expect(importCircles(product)).toEqual([]);
  });

  test('finds a circle of type imports', () => {
    const circle = planted('entities/kit/model/fields.ts', "import type { EntityModule } from './define.ts';");
    expect(importCircles(circle).flat()).toContain('entities/kit/model/fields.ts');
  });

  test('no folder holds more than 40 source files', () => {
    expect(crowdedFolders(product, 40)).toEqual([]);
  });

  test('finds a crowded folder', () => {
    const crowded = new Map([
      ...product,
      ...Array.from({ length: 41 }, (_, n) => [`api/crowd/f-${n}.ts`, ''] as const),
    ]);
    expect(crowdedFolders(crowded, 40)).toEqual(['api/crowd: 41']);
  });

  test('no two files have the same name', () => {
    expect(repeatedNames(tracked)).toEqual([]);
  });

  test('finds two files of one name', () => {
    expect(repeatedNames(planted('api/rest/app.ts', ''))).toEqual(
      expect.arrayContaining(['api/rest/app.ts', 'api/app.ts']),
    );
  });
});

/** Product files outside a folder that contain a pattern in their code. */
function outside(folders: readonly string[], pattern: RegExp, cleaned = (text: string) => text): string[] {
  return [...product]
    .filter(([file]) => !folders.some((folder) => file.startsWith(folder)))
    .filter(([, text]) => pattern.test(cleaned(text)))
    .map(([file]) => file);
}

/** SQL of the tables of one area. */
const rowsFile = /^entities\/[a-z-]+\/[a-z-]+-rows\.ts$/;

test('SQL is written in entities/kit, in the rows of an area and in migrations only', () => {
  const statements = /\b(?:select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\b/i;
  // Row-level security policies and conditions of rules are SQL by nature; each is one expression of the kind's definition.
  const code = (text: string) =>
    text
      .replaceAll(/(?:rls(?:Using|WithCheck)|refuseIf|validIf): `[^`]*`/g, '')
      .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const found = outside(['entities/kit/', 'migrations/', 'temporal-dev/'], statements, code);
  expect(found.filter((file) => !rowsFile.test(file))).toEqual([]);
});

/** Where SQL in entities/kit names tables of areas. */
const tablesOfAreas = [
  // The rights of callers depend on memberships, groups and tokens.
  'access/later-caller',
  'access/lost-roles',
  'access/single-sign-on',
  'model/derived/only-auditors',
  'read/visibility',
  // A second database is only one that has no records yet.
  'storage/second/prepare-second-database',
  'unit/explanation',
  'write/blocked-people',
  'write/comparison/inconsistencies',
  'write/references',
  // Operators list the work of all areas together.
  'outbox/backlog',
  'outbox/delivery-list',
  'outbox/failing-work-list',
  'outbox/request-trace',
].map((name) => `entities/kit/${name}.ts`);

test('SQL in entities/kit names tables of areas where rights are decided and in the lists of operators only', () => {
  const first = join(root, 'migrations', 'first');
  const tables = readdirSync(first)
    .filter((file) => existsSync(join(root, 'entities', file.replace('.sql', ''))))
    .flatMap((file) => [...readFileSync(join(first, file), 'utf8').matchAll(/^create table (\w+)/gm)])
    .map(([, table]) => table);
  expect(tables).toContain('memberships');
  const named = new RegExp(`\\b(?:from|join|into|update)\\s+(?:${tables.join('|')})\\b`);
  const code = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const found = [...product].filter(([file, text]) => file.startsWith('entities/kit/') && named.test(code(text)));
  expect(found.map(([file]) => file).toSorted()).toEqual(tablesOfAreas.toSorted());
});

test('of the files of an area, only its rows know sessions, callers and the outbox', () => {
  const lower = /from '\.\.\/kit\/(?:storage|access|outbox)\//;
  const found = [...product].filter(([file, text]) => /^entities\/(?!kit\/)[a-z-]+\//.test(file) && lower.test(text));
  expect(found.map(([file]) => file).filter((file) => !rowsFile.test(file))).toEqual([]);
});

test('process.env is read in config/ and temporal-dev/ only', () => {
  expect(outside(['config/', 'temporal-dev/'], /process\.env/)).toEqual([]);
});
