import type { Behaviour } from '../behaviour.ts';
import type { Guards } from '../traits.ts';

/** Behaviour: callers need more than a right: a session, their own account, or a recent proof of identity. */
export function guarded(guards: Guards): Behaviour<never> {
  return { fields: [], traits: guards };
}
