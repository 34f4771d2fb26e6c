import { readFileSync } from 'node:fs';
import type { TestSpecification } from 'vitest/node';
import { areServersBuilt, type BuiltServer } from '../kit/object-stores.ts';
import { ProcessesFirst } from './processes-first.ts';

/** Servers that only tests use, by the files of `test/kit` that start them. They are built first on a machine that lacks them. */
const startedBy = {
  'acme-server': ['acme'],
  'object-stores': ['s3', 'gcs'],
  'storage-providers': ['s3', 'gcs'],
} as const;

/** The servers that a test file starts. */
export function builtServersOf(file: string): readonly BuiltServer[] {
  const text = readFileSync(file, 'utf8');
  return Object.entries(startedBy).flatMap(([name, servers]) => (text.includes(`/${name}.ts'`) ? servers : []));
}

/** On a machine that lacks servers that only tests use, the files that need them run last: the servers are built meanwhile. */
export class LateFilesLast extends ProcessesFirst {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return (await areServersBuilt()) ? sorted : lateFilesLast(sorted, ({ moduleId }) => moduleId);
  }
}

/** Keeps the order otherwise. */
export function lateFilesLast<Item>(items: readonly Item[], fileOf: (item: Item) => string): Item[] {
  const { late = [], early = [] } = Object.groupBy(items, (item) =>
    builtServersOf(fileOf(item)).length > 0 ? 'late' : 'early',
  );
  return [...early, ...late];
}
