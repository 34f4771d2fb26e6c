import type { Call, RouteResponse } from '../../http/route.ts';
import { beginSession } from './begin-session.ts';
import { homeOrganization } from './home-organization.ts';

/** What a person has proven, and how. */
export interface ProvenSignIn {
  readonly userId: string;
  /** Whether this browser has not signed in to the account before; an event says so, and a mail. */
  readonly isNewDevice: boolean;
  /** The organization whose single sign-on it was, in which alone the session counts; absent for other ways to sign in. */
  readonly singleSignOnId?: string | null;
}

/**
 * Ends every way to sign in, so that what a session requires is decided in one place.
 * @throws AppError single_sign_on_required
 */
export async function completeSignIn(
  call: Call<unknown>,
  { userId, isNewDevice, singleSignOnId = null }: ProvenSignIn,
): Promise<RouteResponse> {
  const organizationId = await homeOrganization(call, { userId, singleSignOnId }, singleSignOnId);
  return beginSession(call, userId, organizationId, { isNewDevice, singleSignOnId });
}
