import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationObject } from '@mikro-orm/core';
import { migrationClassName, migrationNames } from './migration-name.ts';

/**
 * All migrations in the order in which they run: every file of this folder that is named after the time of its writing. No list
 * names them, so branches that each add one merge without a conflict.
 */
export const migrations: readonly MigrationObject[] = await Promise.all(
  migrationNames(readdirSync(import.meta.dirname)).map(readMigration),
);

async function readMigration(name: string): Promise<MigrationObject> {
  const file = join(import.meta.dirname, `migration-${name}.ts`);
  const exported = (await import(file)) as Record<string, MigrationObject['class'] | undefined>;
  const migration = exported[migrationClassName(name)];
  if (!migration) throw new TypeError(`${file} must export the class ${migrationClassName(name)}`);
  return { name, class: migration };
}
