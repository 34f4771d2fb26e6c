import { connectCookieName, stateCookie } from '../auth/cookie-attributes.ts';
import { stateLifetimeMs, type SignInState } from '../auth/sign-in-state.ts';
import type { Asking } from '../credentials/asking.ts';
import { signedInPerson } from '../credentials/signed-in-person.ts';
import { giveCookie } from '../http/plugins/cookies.ts';

/** Binds the sign-in at another system to this browser and to the session of the person. */
export async function beginConnecting(
  { request, services, unit }: Asking,
  state: string,
  connecting: NonNullable<SignInState['connecting']>,
): Promise<void> {
  const { userId, sessionId } = signedInPerson({ request, unit });
  const config = services.config.current;
  const sealed = await services.signInStates.seal({
    provider: 'integration',
    purpose: 'connect',
    state,
    nonce: '',
    verifier: '',
    target: '',
    session: { userId, sessionId },
    organizationId: unit.context.caller.organizationId,
    settings: null,
    connecting,
  });
  giveCookie(request, connectCookieName(config), sealed, stateCookie(config, stateLifetimeMs / 1_000));
}
