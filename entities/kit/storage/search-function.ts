import type { EntityModule } from '../model/define.ts';
import { wallOf } from './orm-schema.ts';
import { searchedText } from './searched-text.ts';
import { snakeCase } from '../base/snake-case.ts';

/**
 * The function through which a kind is searched. ILIKE is not leakproof, so below row-level security it would be asked of every
 * row of the organization; here, past it, it finds rows by their trigrams. Whose rows they are it reads from the transaction's
 * settings like the wall does: nobody can name another organization.
 */
export interface SearchFunction {
  readonly name: string;
  readonly body: string;
}

/** Undefined for kinds that are not searched. */
export function searchFunctionOf(module: EntityModule): SearchFunction | undefined {
  const { search = [], table } = module;
  if (search.length === 0) return undefined;
  const rows = `select id from ${table} where (${wallOf(module)}) and deleted_at is null`;
  // The text of the index has all fields behind each other; what is sought must stand within one of them.
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

/** What a migration has to say to have the function as it should be. */
export function searchFunctionStatements({ name, body }: SearchFunction): string[] {
  return [
    `create or replace function ${name}(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$${body}$$`,
    `revoke all on function ${name}(text) from public`,
    `grant execute on function ${name}(text) to core_app, core_system`,
  ];
}
