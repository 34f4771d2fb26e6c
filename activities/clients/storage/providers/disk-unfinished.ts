import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessNoFile } from './durable-files.ts';

/** Folder of files that are not complete; no key begins with a dot. */
export const incoming = '.incoming';

/** Prefix of the name of an unfinished file. */
export function temporaryPrefix(key: string): string {
  return `${nameOf(key)}~`;
}

/** Removes what a process left of these keys when it ended in the middle of writing. */
export async function removeUnfinishedOf(folder: string, keys: readonly string[]): Promise<void> {
  const prefixes = new Set(keys.map(temporaryPrefix));
  for (const name of await unfinished(folder))
    if (prefixes.has(name.slice(0, name.lastIndexOf('~') + 1))) await rm(join(folder, incoming, name), { force: true });
}

/** Removes unfinished files of all keys with a prefix to which nothing was written since a moment. */
export async function removeUnfinishedBefore(folder: string, prefix: string, before: Date): Promise<void> {
  for (const name of await unfinished(folder)) {
    if (!name.startsWith(nameOf(prefix))) continue;
    const path = join(folder, incoming, name);
    const found = await stat(path).catch(unlessNoFile(undefined));
    if (found && found.mtime < before) await rm(path, { force: true });
  }
}

function unfinished(folder: string): Promise<string[]> {
  return readdir(join(folder, incoming)).catch(unlessNoFile([]));
}

function nameOf(key: string): string {
  return key.replaceAll('/', '~');
}
