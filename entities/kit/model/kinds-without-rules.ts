import type { Registry } from './registry.ts';

/**
 * Kinds that forgot their rules: everybody in the organization reads their records, and changes are dropped without a word
 * (specification, Authorization rule 3). Each process names them when it starts.
 */
export function kindsWithoutRules(registry: Registry): string[] {
  return registry.modules.filter(({ policy }) => policy === undefined).map(({ kind }) => kind);
}
