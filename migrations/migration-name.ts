/**
 * The name under which a database remembers a migration: `20261122031500-add-risks`; undefined for other files.
 * @throws TypeError for a file of this folder that looks like a migration and would never run
 */
export function migrationName(file: string): string | undefined {
  const name = /^migration-(\d{14}-[a-z0-9]+(?:-[a-z0-9]+)*)\.ts$/.exec(file)?.[1];
  if (name === undefined && /^migration-\d/i.test(file)) {
    throw new TypeError(
      `migrations/${file} would never run: name it migration-<14 digits of its time>-<words-with-hyphens>.ts`,
    );
  }
  return name;
}

/** `20261122031500-add-risks` → `Migration20261122031500AddRisks`. */
export function migrationClassName(name: string): string {
  const words = name.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `Migration${words.join('')}`;
}
