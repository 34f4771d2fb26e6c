import { callerIn, readStateWithin } from './principal-state.ts';
import { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { Work } from '../storage/work.ts';

/** Whose rights work has that was started in a session and is done later. */
export interface LaterPrincipal {
  /** Id of the person; null when the account no longer exists. */
  readonly userId: string | null;
  readonly organizationId: string;
}

/**
 * The person with the rights of now. The session in which the work was started may have ended since, and may have been one of single
 * sign-on, so the caller is confined to the organization (confinement.ts): the rights that a person has to what is their own elsewhere
 * were those of that session.
 * @param others properties that do not depend on the membership
 * @throws AppError permission_denied when the person has no access to the organization any more
 */
export async function readLaterCaller(
  work: Work,
  { userId, organizationId }: LaterPrincipal,
  others: Partial<Caller>,
): Promise<Caller> {
  // Names no session: it does not matter any more.
  const state = userId === null ? undefined : await readStateWithin(work, { userId, sessionId: '*', organizationId });
  if (userId === null || !state?.isActive || state.role === null)
    throw new AppError(
      'permission_denied',
      'The person who started this work has no access to the organization any more.',
    );
  return callerIn(userId, organizationId, state, { ...others, singleSignOnId: organizationId });
}
