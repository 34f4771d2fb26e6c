import { readFileSync } from 'node:fs';
import type { TestSpecification } from 'vitest/node';
import { areObjectStoresBuilt } from '../kit/object-stores.ts';
import { ProcessesFirst } from './processes-first.ts';

/** Whether a test file starts servers of object storage, which are built first on a machine that has none. */
export function needsObjectStores(file: string): boolean {
  return /\/kit\/(?:object-stores|storage-providers)\.ts'/.test(readFileSync(file, 'utf8'));
}

/** On a machine that lacks servers of object storage, the files that need them run last: the servers are built meanwhile. */
export class ObjectStoresLast extends ProcessesFirst {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return (await areObjectStoresBuilt()) ? sorted : objectStoresLast(sorted, ({ moduleId }) => moduleId);
  }
}

/** Keeps the order otherwise. */
export function objectStoresLast<Item>(items: readonly Item[], fileOf: (item: Item) => string): Item[] {
  const { late = [], early = [] } = Object.groupBy(items, (item) =>
    needsObjectStores(fileOf(item)) ? 'late' : 'early',
  );
  return [...early, ...late];
}
