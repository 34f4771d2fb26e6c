import type { Caller } from './caller.ts';
import type { EntityModule } from './define.ts';
import type { Operation } from './policy.ts';

/**
 * Whether a caller is valid only in the organization in which they act: their session began with its single sign-on, and whoever runs its
 * provider can be the caller; or they act as somebody else there.
 */
export function isConfined(caller: Pick<Caller, 'singleSignOnId' | 'delegation'>): boolean {
  return hasSignedOn(caller) || caller.delegation !== null;
}

/** Whether the session of a caller began with the single sign-on of an organization. */
export function hasSignedOn({ singleSignOnId }: Pick<Caller, 'singleSignOnId'>): boolean {
  return singleSignOnId !== null;
}

/**
 * Whether confined callers can have a right to any record of a kind. `scope.ts` says to which: those of the organization in which they
 * act, and of other kinds what `confinedReach` names.
 */
export function isWithinReach({ tenancy, confinedReach }: EntityModule, operation: Operation): boolean {
  if (tenancy === 'organization') return true;
  if (confinedReach === undefined || operation === 'create') return false;
  return confinedReach !== 'view' || operation === 'view';
}
