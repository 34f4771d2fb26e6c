import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { areas, dividedByArea } from '../setup/areas.ts';

const root = join(import.meta.dirname, '..', '..');
const foldersIn = (folder: string) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );

test.each(Object.entries(dividedByArea))('folders of %s are named after areas', (folder, others) => {
  expect(foldersIn(folder).filter((name) => !areas.includes(name) && !others.includes(name))).toEqual([]);
  expect(others.filter((name) => !foldersIn(folder).includes(name))).toEqual([]);
});

test('every area has its kinds', () => {
  expect(areas.filter((area) => !foldersIn('entities').includes(area))).toEqual([]);
});
