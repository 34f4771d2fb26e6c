import type { Call, RouteResponse } from '../../../http/route.ts';
import { addressAfter, completeSignIn, type ProvenSignIn } from '../account/complete-sign-in.ts';
import { redirect } from './provider-flow.ts';

/** Ends a sign-in at a provider: begins the session of the person, and sends the browser on to `target`. */
export async function finishSignIn(call: Call<unknown>, target: string, proven: ProvenSignIn): Promise<RouteResponse> {
  return redirect(call, addressAfter(await completeSignIn(call, proven), target));
}
