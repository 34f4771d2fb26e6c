/** Definitions of triggers by the name of their table. */
export type Triggers = ReadonlyMap<string, readonly string[]>;

/** What the ORM writes when it found nothing itself. */
const nothing = 'select 1';

/** The ORM knows none of our functions and triggers: on its way down it would create them again, also those of tables that did not change. */
const foreign = /^(?:create or replace function|drop function|create trigger|drop trigger) /;

/**
 * The statements of the ORM that a migration keeps. A table that they create has the triggers that it had.
 * @param triggers of the database as it is before the migration
 */
export function ownStatements(statements: readonly string[], triggers: Triggers): string[] {
  const kept = statements.filter((statement) => statement !== nothing && !foreign.test(statement));
  const created = kept.flatMap((statement) => /^create table "(\w+)"/.exec(statement)?.[1] ?? []);
  return [...kept, ...created.flatMap((table) => triggers.get(table) ?? [])];
}

/** The triggers of the database, but for those that `row-capture.ts` installs: every migration removes them. */
export async function heldTriggers(execute: <Row>(text: string) => Promise<Row[]>): Promise<Triggers> {
  const rows = await execute<{ table: string; definition: string }>(
    `select c.relname as "table", pg_get_triggerdef(t.oid) as definition from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where not t.tgisinternal and t.tgparentid = 0 and c.relnamespace = 'public'::regnamespace
       and t.tgfoid is distinct from to_regproc('capture_row_images')::oid order by c.relname, t.tgname`,
  );
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map([...byTable].map(([table, held]) => [table, held.map(({ definition }) => definition)]));
}
