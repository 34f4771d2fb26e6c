/** The name under which a database remembers a migration: `20261122031500-add-risks`; undefined for other files. */
export function migrationName(file: string): string | undefined {
  return /^migration-(\d{14}-[a-z0-9]+(?:-[a-z0-9]+)*)\.ts$/.exec(file)?.[1];
}

/** `20261122031500-add-risks` → `Migration20261122031500AddRisks`. */
export function migrationClassName(name: string): string {
  const words = name.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `Migration${words.join('')}`;
}
