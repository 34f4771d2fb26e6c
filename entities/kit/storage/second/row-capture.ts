import type { SchemaOwner } from '../schema-hook.ts';
import type { CopiedTable } from './first-copy.ts';

const events = {
  insert: 'referencing new table as after_rows',
  update: 'referencing old table as before_rows new table as after_rows',
  delete: 'referencing old table as before_rows',
} as const;

/** From the end of this on, all changes of these tables are captured for the second database. */
export async function installCapture(primary: SchemaOwner, tables: readonly CopiedTable[]): Promise<void> {
  for (const { name, key } of tables) {
    const columns = key.map((column) => `'${column}'`).join(', ');
    for (const [event, rows] of Object.entries(events))
      // Each waits for the transactions that write to its table, and holds up others meanwhile: so each is one transaction.
      await primary.query(
        `create or replace trigger second_${event} after ${event} on ${name} ${rows} for each statement execute function capture_row_images(${columns})`,
      );
  }
}

/** Nothing is captured any more. Processes that still mean to write to the second database are refused until they start again. */
export async function removeCapture(primary: SchemaOwner): Promise<void> {
  const { rows: held } = await primary.query(`select 1 where to_regclass('second_database') is not null`);
  if (held.length === 0) return;
  await primary.query(`update second_database set state = 'off', epoch = '' where state <> 'second'`);
  await dropCapture(primary);
}

/** Changes are made in the primary database alone until capture is installed again; what had been captured is in both when this ends. */
export async function dropCapture(primary: SchemaOwner): Promise<void> {
  const { rows } = await primary.query(
    `select t.tgname as name, t.tgrelid::regclass::text as table from pg_trigger t
     where t.tgfoid = 'capture_row_images()'::regprocedure and t.tgparentid = 0`,
  );
  for (const { name, table } of rows as readonly { readonly name: string; readonly table: string }[])
    await primary.query(`drop trigger ${name} on ${table}`);
}
