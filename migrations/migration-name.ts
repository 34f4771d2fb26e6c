/** The name under which a database remembers a migration: `20261122031500-add-risks`; undefined for other files. */
export function migrationName(file: string): string | undefined {
  return /^migration-(\d{14}-[a-z0-9]+(?:-[a-z0-9]+)*)\.ts$/.exec(file)?.[1];
}

/** The migrations among these files, in the order in which they run. @throws TypeError for a file that is meant to be one and would never run */
export function migrationNames(files: readonly string[]): string[] {
  const misnamed = files.find((file) => /^migration-\d/.test(file) && migrationName(file) === undefined);
  if (misnamed !== undefined) {
    throw new TypeError(
      `migrations/${misnamed} would never run: name it migration-<14 digits of its time>-<words-with-hyphens>.ts`,
    );
  }
  return files.flatMap((file) => migrationName(file) ?? []).toSorted();
}

/** `20261122031500-add-risks` → `Migration20261122031500AddRisks`. */
export function migrationClassName(name: string): string {
  const words = name.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `Migration${words.join('')}`;
}
