import type { EntityModule } from '../model/define.ts';
import { rlsUsingOf } from './orm-schema.ts';
import { searchedText } from './searched-text.ts';
import { snakeCase } from '../base/snake-case.ts';

/**
 * The SQL function that searches a kind. ILIKE is not leakproof, so under row-level security it cannot use the trigram index and
 * would read every row of the organization. The function is SECURITY DEFINER and bypasses the policy; it contains the policy's own
 * expression instead, which takes the organization from the transaction's settings.
 */
export interface SearchFunction {
  readonly name: string;
  readonly body: string;
}

/** The search function of a kind; undefined for kinds without search. */
export function searchFunctionOf(module: EntityModule): SearchFunction | undefined {
  const { search = [], table } = module;
  if (search.length === 0) return undefined;
  const rows = `select id from ${table} where (${rlsUsingOf(module)}) and deleted_at is null`;
  // The indexed text is the concatenation of all fields, and a match must lie within one of them.
  const within = search.map((name) => `${snakeCase(name)} ilike search_pattern(wanted)`).join(' or ');
  const names = module.fields['displayId'] ? 'id = upper(wanted) or display_id = upper(wanted)' : 'id = upper(wanted)';
  return {
    name: searchFunctionName(module),
    body: `
    ${rows} and ${searchedText(search)} ilike search_pattern(wanted) and (${within})
    union
    ${rows} and (${names})
  `,
  };
}

export function searchFunctionName({ table }: EntityModule): string {
  return `search_${table}`;
}

/** The statements of a migration that creates or replaces the function. */
export function searchFunctionStatements({ name, body }: SearchFunction): string[] {
  return [
    `create or replace function ${name}(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$${body}$$`,
    `revoke all on function ${name}(text) from public`,
    `grant execute on function ${name}(text) to core_app, core_system`,
  ];
}
