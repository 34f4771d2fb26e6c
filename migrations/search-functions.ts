import { registry } from '#entities/index.ts';
import { searchFunctionOf, searchFunctionStatements } from '#entities/kit/search-function.ts';

/** Statements of a migration and of what takes it back. */
interface Difference {
  readonly up: string[];
  readonly down: string[];
}

/** Runs one statement as the owner. */
type Execute = (
  text: string,
) => Promise<{ readonly name: string; readonly body: string; readonly definition: string }[]>;

/**
 * What makes the search functions of a database those that the kinds describe. The ORM knows nothing of functions, so they are
 * compared here.
 */
export async function searchFunctionDifference(execute: Execute): Promise<Difference> {
  const held = await execute(`select proname as name, prosrc as body, pg_get_functiondef(oid) as definition from pg_proc
    where pronamespace = 'public'::regnamespace and proname like 'search\\_%' and proname <> 'search_pattern'`);
  const wanted = registry.modules.flatMap((module) => searchFunctionOf(module) ?? []);
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
