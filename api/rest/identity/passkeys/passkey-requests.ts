import { systemCaller } from '#entities/kit/model/caller.ts';
import { takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { Config } from '#config/objects/root.ts';
import {
  isValidChallenge,
  maxChallengeAgeMs,
  newChallenge,
  type Ceremony,
  type ChallengeBinding,
} from '../../../auth/passkey-challenge.ts';
import { claimedChallenge, PasskeyRefusal } from '../../../auth/passkeys.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import type { Services } from '../../../http/services.ts';

export type PasskeySettings = Config['auth']['providers']['webauthn'];

/** @throws AppError not_found while the configuration offers no passkeys */
export function passkeySettings({ config }: Services): PasskeySettings {
  const { providers, supportedproviders } = config.current.auth;
  if (providers.webauthn.enabled || supportedproviders.includes('webauthn')) return providers.webauthn;
  throw new AppError(
    'not_found',
    'This server offers no passkeys (configuration auth.providers.webauthn); sign in in another way.',
  );
}

/** A challenge for a session or a browser. */
export function challengeFor({ services }: Call<unknown>, binding: ChallengeBinding): Buffer {
  return newChallenge(services.config.current.sessions.signingkey, binding, services.clock.now());
}

/**
 * Uses up the challenge of a response, in a transaction that ends before the response is verified, so that it is valid once, whatever the
 * result of the request.
 * @param read what else the transaction does
 * @throws PasskeyRefusal
 */
export async function takeChallenge<T>(
  { request, services }: Call<unknown>,
  settings: PasskeySettings,
  { clientDataJSON, ...binding }: ChallengeBinding & { readonly clientDataJSON: string },
  read: (unit: UnitOfWork) => Promise<T>,
): Promise<{ readonly challenge: string; readonly found: T }> {
  const challenge = await claimedChallenge(clientDataJSON);
  const { signingkey } = services.config.current.sessions;
  const maxAgeMs = settings.enforcetimeout ? settings.timeout : maxChallengeAgeMs;
  if (!isValidChallenge(signingkey, binding, challenge, { now: services.clock.now(), maxAgeMs }))
    throw new PasskeyRefusal('the challenge is not one of this session or browser, or has expired');
  const context = workOf(request.core, systemCaller('use passkey challenge'));
  const found = await services.database.transact(context, async (unit) => {
    const result = await read(unit);
    const use: SignInKey = { key: `passkey-challenge:${challenge}`, limit: 1 };
    if (await takeAttempt(unit, [use], maxChallengeAgeMs)) throw new PasskeyRefusal('the challenge was used already');
    return result;
  });
  return { challenge, found };
}

/**
 * Reads a response of an authenticator.
 * @param refused the error for every response that is not accepted, whatever the reason
 */
export async function acceptResponse<T>(
  call: Call<unknown>,
  ceremony: Ceremony,
  refused: (cause: PasskeyRefusal) => AppError,
  accept: () => Promise<T>,
): Promise<T> {
  try {
    return await accept();
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    logStep(call, ceremony, 'refused', { reason: error.message.slice(0, maxReasonLength) });
    throw refused(error);
  }
}

/** Characters of a reason in the log; it may name values that the client has sent. */
const maxReasonLength = 200;

/** Logs a step of a registration or a sign-in (configuration `auth.providers.webauthn.debug`). */
export function logStep(
  { request, services }: Call<unknown>,
  ceremony: Ceremony,
  step: 'begun' | 'refused' | 'completed',
  details: Readonly<Record<string, unknown>> = {},
): void {
  if (services.config.current.auth.providers.webauthn.debug)
    request.log.info({ ceremony, ...details }, `passkey ${ceremony} ${step}`);
}
