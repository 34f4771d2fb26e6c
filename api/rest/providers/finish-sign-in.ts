import { user } from '#entities/identity/user.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { failed } from '../../auth/sign-in-providers.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { addressAfter, completeSignIn, type ProvenSignIn } from '../account/complete-sign-in.ts';
import { redirect } from './provider-flow.ts';

/** Ends a sign-in at a provider: begins the session of the person, and sends the browser on to `target`. */
export async function finishSignIn(
  call: Call<unknown>,
  data: DataClient,
  target: string,
  proven: ProvenSignIn,
): Promise<RouteResponse> {
  // Locked, as in all sign-ins: whoever deactivates the account finds the session that begins here and ends it.
  const person = await data.findLocked(user, proven.userId);
  if (person?.status !== 'active' || !person.emailConfirmedAt) throw failed('your account here is not active');
  return redirect(call, addressAfter(await completeSignIn(call, proven), target));
}
