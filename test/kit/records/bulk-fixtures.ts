import type { Client } from 'pg';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { eventually } from '../eventually.ts';

/**
 * Row `n` of every kind has this id, and all kinds share the numbers: even ones belong to one large organization, odd ones to
 * many small ones.
 */
export function idOfRow(n: number): string {
  return `0${String(n).padStart(25, '0')}`;
}

/** Organizations besides the large one. */
const smallOrganizations = 500;

/** Different records that a reference points to, which are of the same organization as the rows that refer to them. */
const targets = 1_000;

export const largeOrganization = idOfRow(0);

const id = (number: string) => `'0' || lpad((${number})::text, 25, '0')`;
const organization = `case when n % 2 = 0 then '${largeOrganization}' else ${id(`(n / 2) % ${smallOrganizations} * 2 + 1`)} end`;

/** The record of the same kind of which a row is part: of four each, so that records lie no deeper than six levels. */
const above = id(`n % ${targets} + ${targets} * ((n / ${targets} - 1) / 4)`);

/** With fewer rows, to make the indexes anew costs more than to keep them up to date. */
const manyRows = 1_000;

/** Fills tables of kinds with so many rows each, and prepares them for plans. */
export async function fillTables(client: Client, modules: readonly EntityModule[], rows: number): Promise<void> {
  for (const module of modules) await insertRows(client, module, rows);
  await settle(
    client,
    modules.map(({ table }) => table),
  );
}

/**
 * Puts so many rows into a kind's table, of which one organization has half, in place of those that are there; written by the owner
 * and past foreign keys, so nothing else has to be there. The planner learns nothing of them.
 */
export async function insertRows(client: Client, module: EntityModule, rows: number): Promise<void> {
  const { table } = module;
  const columns: Record<string, string> = {
    id: id('n'),
    created_at: `now() - n * interval '1 second'`,
    updated_at: `now() - n * interval '1 second'`,
    created_by: `'test'`,
    updated_by: `'test'`,
    record_version: '1',
  };
  if (module.tenancy === 'organization')
    columns['organization_id'] = hasFewPerOrganization(module) ? id('n') : organization;
  if (module.tenancy === 'user') columns['user_id'] = id('n');
  for (const name of Object.keys(module.fields)) columns[snakeCase(name)] = valueOf(module, name);
  // Truncating empties the tables that refer to it too, which may have been filled before: only where there is something.
  const { rowCount } = await client.query(`select 1 from ${table} limit 1`);
  if (rowCount !== 0) await client.query(`truncate ${table} cascade`);
  // The statistics of the tables must not change during a test.
  await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
  // Indexes over rows that are there already are made in a fraction of the time.
  const indexes = rows < manyRows ? [] : await indexesOf(client, table);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await client.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'`);
  await client.query(
    `insert into ${table} (${Object.keys(columns).join(', ')})
     select ${Object.values(columns).join(', ')} from generate_series(0, ${rows - 1}) as n`,
  );
  await client.query('reset session_replication_role');
  for (const { definition } of indexes) await client.query(definition);
}

async function indexesOf(client: Client, table: string): Promise<{ name: string; definition: string }[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = $1::regclass and not indisprimary`,
    [table],
  );
  return rows;
}

/** Statistics, and what vacuum does. */
async function settle(client: Client, tables: readonly string[]): Promise<void> {
  await client.query(`analyze ${tables.join(', ')}`);
  // Plans depend on whether rows have to be fetched to know that everybody may see them, which holds as long as others have
  // transactions open that began before.
  await eventually(async () => {
    const found = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class where oid = any($1::regclass[]) and relallvisible < relpages`,
      [tables],
    );
    if (found.rows.length > 0) await client.query(`vacuum ${found.rows.map(({ name }) => name).join(', ')}`);
    return found.rows.length === 0;
  });
}

/**
 * Lets the planner take a table for one of so many rows. Frequencies, histograms and numbers of different values were
 * measured on fewer rows of the same making and are shares of the whole, so they hold. Tables and indexes keep the few pages
 * that they have, which makes reading one from end to end look fifty times cheaper than it would be: an index that is preferred
 * all the same would be so in earnest.
 */
export async function pretendRows(client: Client, { table }: EntityModule, rows: number): Promise<void> {
  await client.query(
    `update pg_class set reltuples = $2 where reltuples > 0 and (oid = $1::regclass
       or oid in (select indexrelid from pg_index where indrelid = $1::regclass))`,
    [table, rows],
  );
}

/** Whether an organization has just one record of the kind, or one of each sort. Records without a sort may be many. */
export function hasFewPerOrganization(module: EntityModule): boolean {
  return (module.unique ?? []).some(({ fields }) =>
    fields.every((name) => {
      const { type, optional, schema } = module.fields[name] ?? {};
      // Texts with examples have few values, too.
      const isSort = type === 'choice' || (type === 'text' && schema !== undefined && 'examples' in schema);
      return name === 'organizationId' || (isSort && !optional);
    }),
  );
}

/** SQL of a field's value in row `n`. */
function valueOf(module: EntityModule, name: string): string {
  const field = module.fields[name] as Field;
  const value = presentValueOf(module, name, field);
  if (field.target === module.kind) return `case when n % 10 < 8 or n < ${targets} then null else ${above} end`;
  // An organization has room for one of each sort, and for any number without.
  if (field.type === 'choice' && field.optional && isInKey(module, name)) return 'null';
  if (field.type === 'textList') return `case when n % 10 < 8 then '{}' else ${value} end`;
  return field.optional ? `case when n % 10 < 8 then null else ${value} end` : value;
}

function presentValueOf(module: EntityModule, name: string, field: Field): string {
  switch (field.type) {
    case 'text':
      return `'${name}-' || n`;
    case 'choice': {
      const values = (field.values ?? []).map((value) => `'${value}'`);
      return `(array[${values.join(', ')}])[1 + (n / 2) % ${values.length}]`;
    }
    case 'integer':
      return isFirstOfKey(module, name) ? 'n' : '(n / 2) % 100';
    case 'decimal':
      return '((n / 2) % 100)::numeric / 4';
    case 'date':
      return 'current_date + (n / 2) % 100';
    case 'boolean':
      return '(n / 2) % 20 = 0';
    case 'timestamp':
      return `now() + n * interval '1 minute'`;
    case 'textList':
      return `array['word-' || (n / 2) % 500, 'other-' || (n / 2) % 7]`;
    case 'json':
      return `'{}'::jsonb`;
    case 'file':
      // Of an object that is nowhere, where a row must have one.
      return field.optional ? 'null' : id('n');
    case 'reference':
      return id(isFirstOfKey(module, name) ? 'n' : `n % ${targets}`);
    default:
      field.type satisfies never;
      throw new Error('unknown type of field');
  }
}

export function isInKey({ unique = [] }: EntityModule, name: string): boolean {
  return unique.some(({ fields }) => fields.includes(name));
}

/** Keys without a text are kept by the first of their fields. */
function isFirstOfKey(module: EntityModule, name: string): boolean {
  return (module.unique ?? []).some(({ fields }) => fields.find((field) => field !== 'organizationId') === name);
}
