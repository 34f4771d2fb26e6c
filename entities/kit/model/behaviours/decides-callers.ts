import type { Behaviour } from '../behaviour.ts';
import type { CallerDeciding } from '../traits.ts';

/** Behaviour: records decide who callers are and what they may do: `request_context` and the functions called by it read them. */
export function decidesCallers<const Name extends string>(deciding: CallerDeciding<Name>): Behaviour<Name> {
  return {
    // The id is no field.
    fields: [...deciding.by, ...(deciding.of === 'id' ? [] : [deciding.of])],
    traits: { decidesCallers: deciding },
  };
}
