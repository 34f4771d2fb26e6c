import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { join } from 'node:path';
import { Migrator, TSMigrationGenerator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { registry } from '#entities/index.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { schemasOf } from '#entities/kit/storage/orm-schema.ts';
import { databaseError } from '#entities/kit/storage/database-error.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { withDefaults } from './added-columns.ts';
import { inTransaction } from './in-transaction.ts';
import { infrastructureTables } from './infrastructure.ts';
import { migrations } from './index.ts';
import { migrationClassName, migrationName } from './migration-name.ts';
import { createTriggers, dropTriggers, heldTriggers, staleTables, triggerDifference } from './trigger-difference.ts';
import { ownStatements } from './own-statements.ts';
import { createFunctions, dropFunctions, functionDifference, functionsOf, type Execute } from './functions.ts';
import { schemaHook } from './registered-hook.ts';
import { searchIndexDifference, type Difference } from './search-indexes.ts';

/** Longest wait for a connection, in milliseconds: an address that swallows everything must not hold a start up. */
const connectTimeoutMs = 5_000;

/** Owner's connection: only migrations use it. Statements run outside the roles the product works under. */
async function openOwner(url: string, kinds: Registry): Promise<MikroORM> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...schemasOf(kinds).all],
    extensions: [Migrator],
    pool: { min: 0, max: 1 },
    driverOptions: { connectionTimeoutMillis: connectTimeoutMs },
    // A mistyped name is an error, not a new, empty installation.
    ensureDatabase: false,
    // The migrations that ran are returned; the callers report them.
    logger: () => {},
    schemaGenerator: { skipTables: [...infrastructureTables], ignoreRoutines: true, ignoreTriggers: true },
    migrations: {
      tableName: 'migrations',
      migrationsList: [...migrations],
      path: import.meta.dirname,
      // The database that is up to date says what is there already.
      snapshot: false,
      fileName: (timestamp, name) => `migration-${timestamp}-${name ?? 'change'}`,
      generator: MigrationFile,
      emit: 'ts',
      allOrNothing: true,
    },
  });
  try {
    // Asked before the migrator is: it would make a database that is missing.
    await orm.em.getConnection().execute('select 1');
    return orm;
  } catch (error) {
    await orm.close();
    throw connectError(error);
  }
}

/** With `retryAfterSeconds` where waiting may help: nobody is there yet. A refusal stays one. */
function connectError(cause: unknown): AppError {
  const code = (cause as { code?: unknown }).code;
  const isRefusal = typeof code === 'string' && /^(?:28|3D)/u.test(code);
  const known = isRefusal ? undefined : databaseError(cause);
  // Of several addresses that were tried there is no common message.
  const reason = (cause as Error).message || String(code);
  if (isAppError(known))
    return new AppError('database_unavailable', `The database cannot be reached (db.primarydbsource): ${reason}.`, {
      cause,
      details: { retryAfterSeconds: 1 },
    });
  return new AppError('database_unavailable', `The database refuses the connection (db.primarydbsource): ${reason}.`, {
    cause,
  });
}

/** Additions to a new migration besides the differences that the ORM finds. */
let more: Difference = { up: [], down: [] };

/** Writes migrations the way the hand-written one looks: the class is named after the file. */
class MigrationFile extends TSMigrationGenerator {
  override generateMigrationFile(className: string, diff: { up: string[]; down: string[] }): string {
    // MikroORM passes `Migration<timestamp>_<name>`, with underscores for hyphens.
    const name = className.replace(/^Migration/, '').replaceAll('_', '-');
    const up = [...withDefaults(ownStatements(diff.up), registry.modules), ...more.up];
    // Searches read columns, so those come back first.
    const whole = { up, down: [...ownStatements(diff.down), ...more.down] };
    const code = super.generateMigrationFile(migrationClassName(name), whole);
    return code.replace(/\n  override name = .*\n/, '');
  }
}

export interface MigrationState {
  readonly executed: readonly string[];
  /** Migrations that have not run. */
  readonly pending: readonly string[];
  /** Functions that are missing, or have another text. */
  readonly staleFunctions: readonly string[];
  /** Tables whose triggers are missing, or have another text. */
  readonly staleTriggers: readonly string[];
  /** In the database, but not in this program: the database is newer. */
  readonly unknown: readonly string[];
}

/** @throws AppError database_unavailable, with `retryAfterSeconds` where waiting may help */
export async function migrationState(url: string): Promise<MigrationState> {
  return withOwner(url, stateOf);
}

/**
 * Brings the database to this program's schema. Several processes may call it at once; one works, the others wait.
 * @returns the names of the migrations that ran
 * @throws AppError schema_too_new when the database knows migrations this program does not; migration_failed; database_unavailable,
 *   with `retryAfterSeconds` where waiting may help
 */
export async function migrate(url: string): Promise<string[]> {
  return withOwner(url, async (orm) => {
    const connection = orm.em.getConnection();
    await connection.execute('select pg_advisory_lock(1161905)');
    try {
      const { unknown, pending } = await stateOf(orm);
      refuseUnknown(unknown);
      if (pending.length > 0)
        await schemaHook.beforeMigrations({ query: async (text) => ({ rows: await connection.execute(text) }) });
      return await runPending(orm);
    } finally {
      await connection.execute('select pg_advisory_unlock(1161905)');
    }
  });
}

/**
 * Pending migrations run in one transaction: functions first, because tables refer to them, then migrations, then triggers.
 * @throws AppError migration_failed, which says which one, and at which statement
 */
async function runPending(orm: MikroORM): Promise<string[]> {
  let part = 'of functions and triggers';
  let statement = '';
  orm.migrator.on('migrating', ({ name }) => {
    part = name;
  });
  orm.config.set('onQuery', (sql) => {
    statement = sql;
    return sql;
  });
  try {
    return await inTransaction(orm, async (execute, transaction) => {
      const { stale, dropped } = await functionDifference(execute, functionsOf(registry.modules));
      if (stale.length > 0) for (const sql of [createRoles, ...createFunctions(stale)]) await execute(sql);
      for (const sql of dropTriggers((await triggerDifference(execute, registry.modules)).dropped)) await execute(sql);
      const ran = (await orm.migrator.up({ transaction })).map(({ name }) => name);
      const triggers = await triggerDifference(execute, registry.modules);
      for (const sql of [...dropTriggers(triggers.dropped), ...createTriggers(triggers), ...dropFunctions(dropped)])
        await execute(sql);
      return [
        ...ran,
        ...stale.map(({ name }) => `function ${name}`),
        ...staleTables(triggers).map((table) => `triggers of ${table}`),
      ];
    });
  } catch (cause) {
    const message = `The migration ${part} failed: ${(cause as Error).message}, at: ${statement}`;
    throw new AppError('migration_failed', message, { cause });
  }
}

/** The roles under which the product works; other databases of the server may have them. */
const createRoles = `do $$
  declare name text;
  begin
    foreach name in array array['core_app', 'core_system'] loop
      begin
        execute format('create role %I nologin', name);
      exception when duplicate_object or unique_violation then null;
      end;
      execute format('grant %I to %I', name, current_user);
    end loop;
  end $$`;

/** Whether the database may yet come: nobody is there, or nobody says so yet. */
export function mayHelpToWait(error: unknown): error is AppError {
  return isAppError(error) && error.code === 'database_unavailable' && error.details.retryAfterSeconds !== undefined;
}

/** @throws AppError schema_too_new when there are migrations in the database that this program does not know */
export function refuseUnknown(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  throw new AppError(
    'schema_too_new',
    `The database has migrations this version does not know (${unknown.join(', ')}): start the newer version, or restore a backup made before it.`,
  );
}

/**
 * Takes the last migration back; for development and for testing that each can be undone. The triggers that note changes of callers go, too,
 * because a column that one compares cannot be dropped; `migrate` creates those that its program needs.
 */
export async function migrateDown(url: string, options?: { readonly to: string | 0 }): Promise<string[]> {
  return withOwner(url, (orm) =>
    inTransaction(orm, async (execute, transaction) => {
      for (const sql of dropTriggers(await heldTriggers(execute))) await execute(sql);
      return (await orm.migrator.down({ ...options, transaction })).map(({ name }) => name);
    }),
  );
}

/**
 * Writes a new migration from the difference between the entities and a database that is up to date; undefined when there is
 * none. Indexes of searches are compared separately: the ORM does not look into them.
 * @throws AppError schema_too_old when the database lacks migrations of this program; schema_too_new when it has others;
 *   invalid_input when existing records would have no value for a new field, or when the name is not in kebab-case
 */
export async function createMigration(url: string, name: string): Promise<string | undefined> {
  if (migrationName(`migration-00000000000000-${name}.ts`) === undefined)
    throw new AppError(
      'invalid_input',
      `"${name}" is not a name of a migration: use small letters, digits and single hyphens.`,
    );
  return withOwner(url, async (orm) => {
    const { pending, unknown } = await stateOf(orm);
    refuseUnknown(unknown);
    if (pending.length > 0)
      throw new AppError(
        'schema_too_old',
        `The database lacks ${pending.join(', ')}; run them first (npm run migrate), so that new differences can be distinguished from them.`,
      );
    more = await searchIndexDifference(executeOf(orm), registry.modules);
    const isFoundByTheOrm = await orm.migrator.checkSchema();
    if (!isFoundByTheOrm && more.up.length === 0) return undefined;
    const { fileName } = await orm.migrator.create(undefined, !isFoundByTheOrm, false, name);
    await format(fileName);
    return fileName;
  });
}

/** As `npm run check` wants it; the formatter is there wherever migrations are written. */
async function format(file: string): Promise<void> {
  const formatter = join(import.meta.dirname, '..', 'node_modules', 'oxfmt', 'bin', 'oxfmt');
  await promisify(execFile)(process.execPath, [formatter, join(import.meta.dirname, file)]);
}

function executeOf(orm: MikroORM): Execute {
  return (text) => orm.em.getConnection().execute(text);
}

/**
 * SQL statements that the database lacks to match the kinds; empty when it matches.
 * @param kinds other kinds than those of the product, for tests
 */
export async function schemaDrift(url: string, kinds = registry): Promise<string[]> {
  return withOwner(
    url,
    async (orm) => {
      const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false });
      const indexes = await searchIndexDifference(executeOf(orm), kinds.modules);
      const { stale } = await functionDifference(executeOf(orm), functionsOf(kinds.modules));
      const triggers = await triggerDifference(executeOf(orm), kinds.modules);
      return [
        ...sql.split('\n').filter((line) => line.trim() !== ''),
        ...indexes.up,
        ...stale.map(({ text }) => text),
        ...triggers.stale.map(({ text }) => text),
      ];
    },
    kinds,
  );
}

/** Asks without leaving anything behind; the migrator would make its table. */
async function stateOf(orm: MikroORM): Promise<MigrationState> {
  const connection = orm.em.getConnection();
  const [held] = await connection.execute<{ exists: boolean }[]>(
    `select to_regclass('migrations') is not null as exists`,
  );
  const rows = held?.exists
    ? await connection.execute<{ name: string }[]>('select name from migrations order by id')
    : [];
  const executed = rows.map(({ name }) => name);
  const names = migrations.map(({ name }) => name);
  const { stale } = await functionDifference(executeOf(orm), functionsOf(registry.modules));
  const triggers = await triggerDifference(executeOf(orm), registry.modules);
  return {
    executed,
    pending: names.filter((name) => !executed.includes(name)),
    staleFunctions: stale.map(({ name }) => name),
    staleTriggers: staleTables(triggers),
    unknown: executed.filter((name) => !names.includes(name)),
  };
}

async function withOwner<T>(url: string, work: (orm: MikroORM) => Promise<T>, kinds = registry): Promise<T> {
  const orm = await openOwner(url, kinds);
  try {
    return await work(orm);
  } finally {
    await orm.close();
  }
}
