import type { Registry } from '../registry.ts';

/**
 * Names of kinds without a policy: everyone in the organization can read their records, and changes are dropped without an error.
 * Each process logs them as a warning when it starts.
 */
export function kindsWithoutRules(registry: Registry): string[] {
  return registry.modules.filter(({ policy }) => policy === undefined).map(({ kind }) => kind);
}
