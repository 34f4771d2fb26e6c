import type { Call, RouteResponse } from '../../http/route.ts';
import { beginSession } from './begin-session.ts';
import { homeOrganization } from './home-organization.ts';

/** What a person has proven, and how. */
export interface ProvenSignIn {
  readonly userId: string;
  /** Whether this browser has not signed in to the account before; an event says so, and a mail. */
  readonly isNewDevice: boolean;
}

/** Ends every way to sign in, so that what a session requires is decided in one place. */
export async function completeSignIn(
  call: Call<unknown>,
  { userId, isNewDevice }: ProvenSignIn,
): Promise<RouteResponse> {
  return beginSession(call, userId, await homeOrganization(call.unit, userId), { isNewDevice });
}
