import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { ComparisonSettings } from '../database-hook.ts';

interface Databases {
  readonly url: string;
  readonly secondUrl: string;
  readonly applicationName: string;
}

/** Time for which a change may be on its way from one database to the other before it is reported as missing, in milliseconds. */
const graceMs = 3_000;

/** Most rows of one table that are named. */
const maxNamed = 20;

/** Digests of rows, by primary key as JSON. */
type Digests = ReadonlyMap<string, string>;

interface Table {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
}

/**
 * Compares every row of the second database (`db.multiwrite`) with the primary one, in pages, as the owner of each.
 * @returns one line per row that differs or is missing
 */
export async function compareDatabases(
  { url, secondUrl, applicationName }: Databases,
  { pageSize, isQuiet, onProgress }: ComparisonSettings,
): Promise<string[]> {
  const [primary, second] = [url, secondUrl].map(
    (connectionString) => new Client({ connectionString, application_name: applicationName }),
  ) as [Client, Client];
  try {
    await Promise.all([primary.connect(), second.connect()]);
    const lines: string[] = [];
    for (const table of await capturedTables(primary)) {
      let count = 0;
      const suspects = new Set<string>();
      for (let after: string | undefined = ''; after !== undefined;) {
        const page = await readPage(primary, table, { after, limit: pageSize });
        const last = [...page.keys()].at(-1);
        // Without a full page the rest of the table belongs to this one, so rows that only the second database has are found.
        const until = page.size === pageSize ? last : undefined;
        const other = await readRange(second, table, { after, until });
        for (const key of differing(page, other)) suspects.add(key);
        count += page.size;
        onProgress(`${table.name} in both databases`, count);
        after = until;
      }
      lines.push(...(await confirmed(primary, second, { table, suspects: [...suspects], isQuiet })));
    }
    const { rows } = await second.query<{ gid: string }>(
      `select gid from pg_prepared_xacts where database = current_database() and prepared < now() - interval '1 minute'`,
    );
    lines.push(...rows.map(({ gid }) => `"${gid}" is prepared in the second database and has not ended for a minute`));
    return lines;
  } finally {
    await Promise.all([primary.end(), second.end()]);
  }
}

/** Rows that differ although nothing was on its way. */
async function confirmed(
  primary: Client,
  second: Client,
  {
    table,
    suspects,
    isQuiet,
  }: { readonly table: Table; readonly suspects: readonly string[]; readonly isQuiet: boolean },
): Promise<string[]> {
  if (suspects.length === 0) return [];
  if (!isQuiet) await pause(graceMs);
  const [own, other] = await Promise.all([primary, second].map((client) => readRows(client, table, suspects)));
  const left = differing(own as Digests, other as Digests);
  const lines = left.slice(0, maxNamed).map((key) => {
    const where = !other?.has(key) ? 'is missing in' : own?.has(key) ? 'differs in' : 'is only in';
    return `${table.name} ${key} ${where} the second database`;
  });
  if (left.length > maxNamed) lines.push(`${left.length - maxNamed} more rows of ${table.name} differ`);
  return lines;
}

function differing(own: Digests, other: Digests): string[] {
  return [...new Set([...own.keys(), ...other.keys()])].filter((key) => own.get(key) !== other.get(key));
}

/** Tables that have a trigger for it. */
async function capturedTables(primary: Client): Promise<Table[]> {
  const { rows } = await primary.query<Table>(
    `select c.relname as name, (select array_agg(a.attname::text order by array_position(i.indkey::int[], a.attnum::int))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary) as key
     from pg_class c where c.oid in (select tgrelid from pg_trigger where tgname = 'second_insert')
       and not c.relispartition order by c.relname`,
  );
  return rows;
}

function readPage(client: Client, table: Table, { after, limit }: { after: string; limit: number }): Promise<Digests> {
  const from = after === '' ? '' : `where ${isBeyond('>', table, 2)}`;
  const order = `order by ${table.key.join(', ')} limit ${limit}`;
  return read(client, table, `from ${table.name} t ${from} ${order}`, after === '' ? [] : [after]);
}

/** Rows after one key, up to another. */
function readRange(client: Client, table: Table, { after, until }: { after: string; until: string | undefined }) {
  const keys = [...(after === '' ? [] : [after]), ...(until === undefined ? [] : [until])];
  const conditions = [
    ...(after === '' ? [] : [isBeyond('>', table, 2)]),
    ...(until === undefined ? [] : [isBeyond('<=', table, keys.length + 1)]),
  ];
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
  return read(client, table, `from ${table.name} t ${where}`, keys);
}

/** @param parameter number of the parameter with the other key */
function isBeyond(operator: '>' | '<=', { name, key }: Table, parameter: number): string {
  const columns = key.join(', ');
  return `(${columns}) ${operator} (select ${columns} from jsonb_populate_record(null::${name}, $${parameter}))`;
}

function readRows(client: Client, table: Table, keys: readonly string[]): Promise<Digests> {
  const same = table.key.map((column) => `t.${column} = k.${column}`).join(' and ');
  const from = `from jsonb_populate_recordset(null::${table.name}, $2) k join ${table.name} t on ${same}`;
  return read(client, table, from, [`[${keys.join()}]`]);
}

/** @param from clauses after the columns; their parameters begin with $2 */
async function read(client: Client, { key }: Table, from: string, values: readonly string[]): Promise<Digests> {
  const { rows } = await client.query<{ key: string; digest: string }>(
    `select row_key(to_jsonb(t), $1)::text as key, md5(to_jsonb(t)::text) as digest ${from}`,
    [key, ...values],
  );
  return new Map(rows.map((row) => [row.key, row.digest]));
}
