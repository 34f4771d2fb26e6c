import type { Behaviour } from '../behaviour.ts';
import type { WiderReach } from '../traits.ts';

/** Behaviour: other callers reach the records than the tenancy of the kind says. */
export function reachable(reach: WiderReach): Behaviour<never> {
  return { fields: [], traits: reach };
}
