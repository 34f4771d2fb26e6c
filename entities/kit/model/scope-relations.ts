/** Operations that a scope allows, from least to most: each includes those before it. */
export const scopeVerbs = ['read', 'write', 'delete'] as const;
export type ScopeVerb = (typeof scopeVerbs)[number];

const relationVerbs: Readonly<Record<ScopeVerb, string>> = { read: 'view', write: 'edit', delete: 'delete' };

/** The form of a scope: `task:read`, `group_membership:write`. */
const scopePattern = /^(?<topic>[a-z][a-z0-9_]*):(?<verb>read|write|delete)$/;

/** The relations to the organization that scopes are: `can_view_task` for `task:read`. A text of another form gives none. */
export function relationsOfScopes(scopes: readonly string[]): string[] {
  return scopes.flatMap((scope) => {
    const { topic, verb } = scopePattern.exec(scope)?.groups ?? {};
    return topic === undefined ? [] : [`can_${relationVerbs[verb as ScopeVerb]}_${topic}`];
  });
}

/** The relation of one scope in SQL: of `scope`, an expression; null for a text of another form. */
export function relationOfScopeSql(scope: string): string {
  const cases = scopeVerbs.map((verb) => `when '${verb}' then 'can_${relationVerbs[verb]}_'`).join(' ');
  return `case split_part(${scope}, ':', 2) ${cases} end || split_part(${scope}, ':', 1)`;
}
