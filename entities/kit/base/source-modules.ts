import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface SourceModule {
  /** Absolute path. */
  readonly path: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Imports the files of a folder whose names end like this, in the order of their paths. Files that are found by their name need no entry in
 * a list.
 * @param folder from the root of the repository
 */
export async function sourceModules(folder: string, suffix: string): Promise<SourceModule[]> {
  const files = await readdir(join(root, folder), { recursive: true });
  const paths = files.filter((file) => file.endsWith(suffix)).map((file) => join(root, folder, file));
  return Promise.all(
    paths.toSorted().map(async (path) => ({
      path,
      exports: (await import(pathToFileURL(path).href)) as SourceModule['exports'],
    })),
  );
}

/**
 * The one export of each module that is of a type.
 * @param what names it in the error
 * @throws TypeError for a module that has none, or several
 */
export function soleExports<T>(
  modules: readonly SourceModule[],
  what: string,
  isWanted: (value: unknown) => value is T,
): (SourceModule & { readonly value: T })[] {
  return modules.map((module) => {
    const [value, ...others] = Object.values(module.exports).filter(isWanted);
    if (value === undefined || others.length > 0) throw new TypeError(`${module.path} must export one ${what}`);
    return { ...module, value };
  });
}
