import type { EntityModule } from '#entities/kit/model/define.ts';
import { searchIndexOf } from '#entities/kit/storage/orm-schema.ts';
import type { Execute } from './functions.ts';

/** Statements of a migration and of what takes it back. */
export interface Difference {
  readonly up: string[];
  readonly down: string[];
}

/**
 * Indexes of searches that are there and hold other fields: the ORM does not look into expressions. Indexes that come or go have a name
 * that it sees.
 */
export async function searchIndexDifference(execute: Execute, modules: readonly EntityModule[]): Promise<Difference> {
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
