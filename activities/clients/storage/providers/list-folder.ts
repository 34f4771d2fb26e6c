import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessNoFile } from './durable-files.ts';
import type { ListedObject, ObjectPage } from '../provider.ts';

const pageSize = 1_000;

/**
 * Files below a folder whose path begins with the prefix, in the order of their paths. Names that begin with a dot are left out.
 * @param after path behind which the page begins
 */
export async function listFolder(folder: string, prefix: string, after = ''): Promise<ObjectPage> {
  const items: ListedObject[] = [];
  for await (const key of keysBelow(folder, '', prefix, after)) {
    const found = await stat(join(folder, key)).catch(unlessNoFile(undefined));
    // Deleted while the page is read.
    if (!found) continue;
    items.push({ key, sizeBytes: found.size, modifiedAt: found.mtime });
    if (items.length === pageSize) return { items, after: key };
  }
  return { items, after: undefined };
}

async function* keysBelow(folder: string, path: string, prefix: string, after: string): AsyncGenerator<string> {
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(unlessNoFile([]));
  // A folder stands where its files stand, whose paths continue with a slash.
  const names = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${path}${entry.name}/` : `${path}${entry.name}`))
    .toSorted((one, other) => (one < other ? -1 : 1));
  for (const name of names) {
    const isFolder = name.endsWith('/');
    if (isFolder && (prefix.startsWith(name) || name.startsWith(prefix))) {
      if (name > after || after.startsWith(name)) yield* keysBelow(folder, name, prefix, after);
    } else if (!isFolder && name.startsWith(prefix) && name > after) yield name;
  }
}
