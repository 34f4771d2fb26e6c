import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeLiteral } from 'pg';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { searchFunctionOf, type SqlFunction } from '#entities/kit/storage/search-function.ts';

/** Runs statements as the owner of the database. */
export type Execute = <Row>(text: string) => Promise<Row[]>;

const folder = join(import.meta.dirname, '..', 'entities', 'kit', 'sql');

/** Functions that are written by hand, a file each. */
const written: readonly SqlFunction[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => ({ name: file.slice(0, -'.sql'.length), text: readFileSync(join(folder, file), 'utf8') }));

/** The functions that a program with these kinds works with: those that are written, and a search of each kind that has one. */
export function functionsOf(modules: readonly EntityModule[]): SqlFunction[] {
  return [...written, ...modules.flatMap((module) => searchFunctionOf(module) ?? [])];
}

/** Functions that a database lacks. */
export interface FunctionDifference {
  /** Functions that are missing, or were created from another text. */
  readonly stale: readonly SqlFunction[];
  /** Names of functions that the program does not know any more. */
  readonly dropped: readonly string[];
}

/** The table knows from which text each function was created; PostgreSQL keeps only what it has read there. */
export async function functionDifference(
  execute: Execute,
  wanted: readonly SqlFunction[],
): Promise<FunctionDifference> {
  const [table] = await execute<{ exists: boolean }>(`select to_regclass('sql_functions') is not null as exists`);
  const held = table?.exists
    ? await execute<{ name: string; digest: string }>('select name, digest from sql_functions')
    : [];
  const digests = new Map(held.map(({ name, digest }) => [name, digest]));
  const names = new Set(wanted.map(({ name }) => name));
  return {
    stale: wanted.filter(({ name, text }) => digests.get(name) !== digestOf(text)),
    dropped: held.flatMap(({ name }) => (names.has(name) ? [] : name)),
  };
}

/**
 * The statements that create functions, before the migrations of the same transaction: tables, indexes and policies refer to functions.
 * Functions refer to tables as well, but PostgreSQL does not look into their bodies here. So they need no order, and their signatures
 * name types of PostgreSQL only.
 */
export function createFunctions(functions: readonly SqlFunction[]): string[] {
  return [
    'create table if not exists sql_functions (name text primary key, digest text not null)',
    'set local check_function_bodies = off',
    ...functions.flatMap((made) => [replaceFunction(made), noteFunction(made)]),
  ];
}

/** The statements that drop functions, after the migrations: nothing refers to them then. */
export function dropFunctions(names: readonly string[]): string[] {
  return names.flatMap((name) => [
    `drop function ${name}`,
    `delete from sql_functions where name = ${escapeLiteral(name)}`,
  ]);
}

/**
 * A function that returns other columns than before cannot be replaced: it is dropped first. One with other parameters would stand beside
 * the former one.
 */
function replaceFunction({ name, text }: SqlFunction): string {
  return `do $replace$
    declare
      former regprocedure[] := array(select p.oid from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = ${escapeLiteral(name)});
      one regprocedure;
    begin
      begin
        execute ${escapeLiteral(text)};
      exception when invalid_function_definition then
        foreach one in array former loop execute format('drop function %s', one); end loop;
        execute ${escapeLiteral(text)};
        return;
      end;
      if (select count(*) from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = ${escapeLiteral(name)}) > 1 then
        foreach one in array former loop execute format('drop function %s', one); end loop;
      end if;
    end $replace$`;
}

function noteFunction({ name, text }: SqlFunction): string {
  return `insert into sql_functions (name, digest) values (${escapeLiteral(name)}, ${escapeLiteral(digestOf(text))})
    on conflict (name) do update set digest = excluded.digest`;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
