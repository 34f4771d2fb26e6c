import type { Config } from '#config/root.ts';
import { hasObjectRights } from '#entities/kit/policy.ts';
import type { Registry } from '#entities/kit/registry.ts';

const none: readonly string[] = [];

/**
 * Kinds whose records are not tied to their organization when a right is decided (`authz.enableparentcontext`,
 * `authz.parentcontextskipkinds`): roles and scopes then say nothing about them, only what was given on the records does.
 */
export function kindsOutOfContext(
  registry: Registry,
  { enableparentcontext, parentcontextskipkinds }: Config['authz'],
): readonly string[] {
  if (enableparentcontext && parentcontextskipkinds.length === 0) return none;
  return registry.modules
    .filter(({ kind, topic, policy }) => {
      const isSkipped = parentcontextskipkinds.includes(kind) || parentcontextskipkinds.includes(topic);
      return hasObjectRights(policy) && (!enableparentcontext || isSkipped);
    })
    .map(({ kind }) => kind);
}
