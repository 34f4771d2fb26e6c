import type { Behaviour } from '../behaviour.ts';
import type { Guards } from '../traits.ts';

/** Behaviour: callers need more than a right: a session, their own account, a recent proof of identity, or a payment method. */
export function guarded(guards: Guards): Behaviour<never> {
  return { fields: [], traits: guards };
}
