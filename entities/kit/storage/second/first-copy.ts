import type { Client } from 'pg';

/** Rows that are copied, and locked against changes, at a time. */
const batchSize = 1_000;

/** Shorter than `deadlock_timeout`, so that the copy gives way and never a request. */
const lockTimeoutMs = 500;

/** A table of which the second database has every row. */
export interface CopiedTable {
  readonly name: string;
  /** Columns of its primary key. */
  readonly key: readonly string[];
}

/**
 * Tables that each database has for itself: what ran on it, to which installation it belongs, who and what was changed by its transactions, and what
 * is under way between the two.
 */
const ownTables = [
  'migrations',
  'installation',
  'caller_changes',
  'record_changes',
  'change_feed',
  'second_database',
  'row_images',
  'commit_decisions',
];

/** @throws Error for a table without a primary key, whose rows could not be distinguished */
export async function copiedTables(client: Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<{ name: string; key: string[] | null }>(
    `select c.relname as name, (select array_agg(a.attname::text order by array_position(i.indkey::int[], a.attnum::int))
        from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
        where i.indrelid = c.oid and i.indisprimary) as key
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> all($1) order by c.relname`,
    [ownTables],
  );
  return rows.map(({ name, key }) => {
    if (!key) throw new Error(`the table ${name} has no primary key, so it cannot be written to a second database`);
    return { name, key };
  });
}

/**
 * Copies the rows of a table to the second database while others work. Changes are written to both databases by then, so a row that
 * is there already is newer or the same. Rows are locked while they are copied: nobody deletes one before its copy is there.
 * @returns how many rows were read
 */
export async function copyTable(primary: Client, second: Client, { name, key }: CopiedTable): Promise<number> {
  const columns = key.join(', ');
  let after: string | undefined;
  let limit = batchSize;
  let read = 0;
  for (;;) {
    await primary.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
    try {
      const { rows } = await primary.query<{ image: string; place: string }>(
        `select to_jsonb(t)::text as image, row_key(to_jsonb(t), $1)::text as place from ${name} t
         ${after === undefined ? '' : `where (${columns}) > (select ${columns} from jsonb_populate_record(null::${name}, $2))`}
         order by ${columns} limit ${limit} for share`,
        after === undefined ? [key] : [key, after],
      );
      if (rows.length > 0)
        await second.query(
          `insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1) on conflict (${columns}) do nothing`,
          [`[${rows.map(({ image }) => image).join()}]`],
        );
      await primary.query('commit');
      read += rows.length;
      after = rows.at(-1)?.place;
      if (rows.length < limit) return read;
      limit = Math.min(batchSize, limit * 2);
    } catch (error) {
      await primary.query('rollback');
      // Somebody changes one of the rows: fewer at a time get past it.
      if ((error as { code?: string }).code !== '55P03') throw error;
      limit = Math.max(1, Math.floor(limit / 4));
    }
  }
}
