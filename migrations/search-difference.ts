import type { EntityModule } from '#entities/kit/model/define.ts';
import { searchIndexOf } from '#entities/kit/storage/orm-schema.ts';
import { searchFunctionOf, searchFunctionStatements, searchHelpers } from '#entities/kit/storage/search-function.ts';

/** Statements of a migration and of what takes it back. */
export interface Difference {
  readonly up: string[];
  readonly down: string[];
}

/** Runs one statement as the owner. */
type Execute = <Row>(text: string) => Promise<Row[]>;

/** What makes a database find records the way the kinds describe. The ORM looks into neither functions nor expressions. */
export async function searchDifference(execute: Execute, modules: readonly EntityModule[]): Promise<Difference> {
  const parts = [await functionDifference(execute, modules), await indexDifference(execute, modules)];
  return { up: parts.flatMap(({ up }) => up), down: parts.flatMap(({ down }) => down) };
}

async function functionDifference(execute: Execute, modules: readonly EntityModule[]): Promise<Difference> {
  const held = await execute<{ name: string; body: string; definition: string }>(
    `select proname as name, prosrc as body, pg_get_functiondef(oid) as definition from pg_proc
     where pronamespace = 'public'::regnamespace and proname like 'search\\_%' and proname not in (${searchHelpers.map((name) => `'${name}'`).join()})`,
  );
  const wanted = modules.flatMap((module) => searchFunctionOf(module) ?? []);
  const difference: Difference = { up: [], down: [] };
  for (const made of wanted) {
    const former = held.find(({ name }) => name === made.name);
    if (former?.body === made.body) continue;
    difference.up.push(...searchFunctionStatements(made));
    difference.down.push(former?.definition ?? `drop function ${made.name}(text)`);
  }
  for (const { name, definition } of held) {
    if (wanted.some((made) => made.name === name)) continue;
    difference.up.push(`drop function ${name}(text)`);
    difference.down.push(definition);
  }
  return difference;
}

/** Indexes that are there and hold other fields; those that come or go have a name that the ORM sees. */
async function indexDifference(execute: Execute, modules: readonly EntityModule[]): Promise<Difference> {
  const held = await execute<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes where schemaname = 'public' and indexname like '%\\_search\\_index'`,
  );
  const difference: Difference = { up: [], down: [] };
  for (const module of modules) {
    const wanted = searchIndexOf(module);
    const former = held.find(({ name }) => name === wanted?.name);
    if (!wanted || !former) continue;
    if (contentsOf(former.definition) === contentsOf(wanted.expression)) continue;
    // A column that went took its index along.
    const drop = `drop index if exists "${wanted.name}"`;
    difference.up.push(drop, wanted.expression);
    difference.down.push(drop, former.definition);
  }
  return difference;
}

/** PostgreSQL prints an expression in its own words: `COALESCE(title, ''::text)` for each field (searched-text.ts). */
function contentsOf(definition: string): string {
  const parts = definition.matchAll(/coalesce\("?(\w+)"?,|search_words|matched_form|organization_id/gi);
  return [...parts].map(([part, column]) => column ?? part).join();
}
