import type { Behaviour } from '../behaviour.ts';
import type { DeprecatedMutations } from '../traits.ts';

/** Behaviour: clients should no longer use some of the derived mutations, because an action takes their place. */
export function deprecated(mutations: DeprecatedMutations): Behaviour<never> {
  return { fields: [], traits: { deprecatedMutations: mutations } };
}
