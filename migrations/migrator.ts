import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Migrator, TSMigrationGenerator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { registry } from '#entities/index.ts';
import { AppError } from '#entities/kit/errors.ts';
import { infrastructureTables } from './infrastructure.ts';
import { migrations } from './index.ts';

/** Owner's connection: only migrations use it. Statements run outside the roles the product works under. */
async function openOwner(url: string): Promise<MikroORM> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...registry.schemas],
    extensions: [Migrator],
    pool: { min: 0, max: 1 },
    // What ran is returned; the callers tell.
    logger: () => {},
    schemaGenerator: { skipTables: [...infrastructureTables], ignoreRoutines: true },
    migrations: {
      tableName: 'migrations',
      migrationsList: migrations,
      path: import.meta.dirname,
      snapshotName: 'schema',
      snapshotOnMigrate: false,
      fileName: (_timestamp, name) => `migration-${nextNumber()}-${name ?? 'change'}`,
      generator: MigrationFile,
      emit: 'ts',
      allOrNothing: true,
    },
  });
  await orm.connect();
  return orm;
}

function nextNumber(): string {
  return String(migrations.length + 1).padStart(4, '0');
}

/** Writes migrations the way the hand-written one looks: the class is named after the file. */
class MigrationFile extends TSMigrationGenerator {
  override generateMigrationFile(className: string, diff: { up: string[]; down: string[] }): string {
    // MikroORM hands over `Migration<timestamp>_<name>`.
    const name = className.replace(/^Migration\d+_?/, '');
    const code = super.generateMigrationFile(classNameOf(nextNumber(), name), diff);
    return code.replace(/\n  override name = .*\n/, '');
  }
}

function classNameOf(number: string, name: string): string {
  const words = name.split(/[-_]/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `Migration${number}${words.join('')}`;
}

/** Rewrites migrations/index.ts from the files beside it. */
async function writeIndex(): Promise<void> {
  const files = (await readdir(import.meta.dirname)).filter((file) => /^migration-\d{4}-.+\.ts$/.test(file)).toSorted();
  const entries = files.map((file) => {
    const [, number = '', name = ''] = /^migration-(\d{4})-(.+)\.ts$/.exec(file) ?? [];
    return { file, name: `${number}-${name}`, className: classNameOf(number, name) };
  });
  const source = [
    "import type { MigrationObject } from '@mikro-orm/core';",
    ...entries.map(({ className, file }) => `import { ${className} } from './${file}';`),
    '',
    '/** All migrations in the order in which they run; rewritten by `npm run migrate:new`. */',
    'export const migrations: MigrationObject[] = [',
    ...entries.map(({ className, name }) => `  { name: '${name}', class: ${className} },`),
    '];',
    '',
  ];
  await writeFile(join(import.meta.dirname, 'index.ts'), source.join('\n'));
}

export interface MigrationState {
  readonly executed: readonly string[];
  readonly pending: readonly string[];
  /** In the database, but not in this program: the database is newer. */
  readonly unknown: readonly string[];
}

/** @throws AppError database_unavailable */
export async function migrationState(url: string): Promise<MigrationState> {
  return withOwner(url, stateOf);
}

/**
 * Brings the database to this program's schema. Several processes may call it at once; one works, the others wait.
 * @returns the names of the migrations that ran
 * @throws AppError schema_too_new when the database knows migrations this program does not
 */
export async function migrate(url: string): Promise<string[]> {
  return withOwner(url, async (orm) => {
    const connection = orm.em.getConnection();
    await connection.execute('select pg_advisory_lock(1161905)');
    try {
      const { unknown } = await stateOf(orm);
      if (unknown.length > 0) {
        throw new AppError(
          'schema_too_new',
          `The database has migrations this version does not know (${unknown.join(', ')}): start the newer version, or restore a backup made before it.`,
        );
      }
      return (await orm.migrator.up()).map((migration) => migration.name);
    } finally {
      await connection.execute('select pg_advisory_unlock(1161905)');
    }
  });
}

/** Takes the last migration back; for development and for testing that each can be undone. */
export async function migrateDown(url: string, options?: { readonly to: string | 0 }): Promise<string[]> {
  return withOwner(url, async (orm) => (await orm.migrator.down(options)).map((migration) => migration.name));
}

/** Writes a new migration from the difference between the entities and the snapshot; undefined when there is none. */
export async function createMigration(url: string, name: string): Promise<string | undefined> {
  return withOwner(url, async (orm) => {
    const { diff, fileName } = await orm.migrator.create(undefined, false, false, name);
    if (diff.up.length === 0) return undefined;
    await writeIndex();
    return fileName;
  });
}

/** SQL that is missing to make the snapshot agree with the entities; empty when they do. */
export async function schemaDrift(url: string): Promise<string[]> {
  return withOwner(url, async (orm) => {
    const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false });
    return sql.split('\n').filter((line) => line.trim() !== '');
  });
}

async function stateOf(orm: MikroORM): Promise<MigrationState> {
  const executed = (await orm.migrator.getExecuted()).map((row) => row.name);
  const pending = (await orm.migrator.getPending()).map((migration) => migration.name);
  const known = new Set(migrations.map((migration) => migration.name));
  return { executed, pending, unknown: executed.filter((name) => !known.has(name)) };
}

async function withOwner<T>(url: string, work: (orm: MikroORM) => Promise<T>): Promise<T> {
  const orm = await openOwner(url).catch((cause: unknown) => {
    throw new AppError('database_unavailable', `The database cannot be reached: ${(cause as Error).message}`, {
      cause,
    });
  });
  try {
    return await work(orm);
  } finally {
    await orm.close();
  }
}
