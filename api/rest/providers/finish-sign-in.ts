import { user } from '#entities/identity/user.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { failed } from '../../auth/sign-in-providers.ts';
import type { OpenedState } from '../../auth/sign-in-state.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { accountKey } from '../account/account-key.ts';
import { completeSignIn } from '../account/complete-sign-in.ts';
import { isNewDevice, knownBrowser, rememberBrowser } from '../account/known-browser.ts';
import { redirect } from './provider-flow.ts';

/** Ends a sign-in at a provider: begins the session of the person, and sends the browser on. @param singleSignOnId see `ProvenSignIn` */
export async function finishSignIn(
  call: Call<unknown>,
  data: DataClient,
  { target }: OpenedState,
  userId: string,
  singleSignOnId: string | null = null,
): Promise<RouteResponse> {
  // Locked, as in all sign-ins: whoever deactivates the account finds the session that begins here and ends it.
  const person = await data.findLocked(user, userId);
  if (person?.status !== 'active' || !person.emailConfirmedAt) throw failed('your account here is not active');
  const account = accountKey(person.email);
  const isNew = isNewDevice(person, knownBrowser(call, account), call.services.clock.now());
  rememberBrowser(call, account);
  await completeSignIn(call, { userId, isNewDevice: isNew, singleSignOnId });
  return redirect(call, target);
}
