import { passkey } from '#entities/identity/passkey.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { giveBackAttempt, takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { passkeyCookieName } from '../../../auth/cookie-attributes.ts';
import { claimedPerson, PasskeyRefusal, verifyAuthentication, type VerifiedSignIn } from '../../../auth/passkeys.ts';
import { clientNetwork } from '../../../http/limits/client-address.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { completeSignIn, SignInSchema } from '../account/complete-sign-in.ts';
import { knownBrowser } from '../account/known-browser.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import { acceptResponse, logStep, passkeySettings, takeChallenge } from './passkey-requests.ts';
import { AssertionSchema } from './passkey-schemas.ts';

/**
 * Refused sign-ins of a network address, or of a browser that has signed in to the account before, within the window after which it
 * must wait; the window is in milliseconds. Nobody can guess a signature, so accounts have no limit that would lock their owner out.
 */
const attempts = { limit: 50, windowMs: 15 * 60_000 };

/** A passkey that a response names, its owner, and where the attempt is counted. */
interface Attempt {
  readonly stored: RowOf<typeof passkey> | undefined;
  readonly counter: SignInKey;
}

export const authenticationVerification = defineRoute({
  method: 'POST',
  url: '/v1/authentication/verification',
  operationId: 'signInWithPasskey',
  tag: 'Passkeys',
  summary: 'Sign in with a passkey',
  description:
    'Begins a session, like /v1/login, with what `navigator.credentials.get` has returned for the options of /v1/authentication/options. Options are valid once, for the browser that asked for them. The passkey takes the place of the password, not of a second factor. After fifty refusals within a quarter of an hour, the network address waits.',
  access: 'public',
  limitClass: 'flow',
  body: AssertionSchema,
  answers: { 200: SignInSchema },
  // It counts the attempt and uses up the challenge in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'not_found', 'invalid_credentials', 'single_sign_on_required', 'too_many_requests'],
  handle: async (call) => {
    const { body, services, request, unit } = call;
    const settings = passkeySettings(services);
    return acceptResponse(call, 'authentication', refused, async () => {
      const subject = request.cookies[passkeyCookieName(services.config.current)];
      if (subject === undefined) throw new PasskeyRefusal('the browser has no cookie of a sign-in');
      const { clientDataJSON } = body.response;
      const use = { ceremony: 'authentication', subject, clientDataJSON } as const;
      const { challenge, found } = await takeChallenge(call, settings, use, (before) =>
        beginAttempt(call, before, body.id),
      );
      const { stored } = found;
      if (!stored) throw new PasskeyRefusal('the passkey is not registered');
      if (claimedPerson(body) !== stored.userId) throw new PasskeyRefusal('the passkey is of another user');
      const verified = await verifyAuthentication(settings, body, challenge, stored);
      const person = await useOf(unit, stored, verified);
      await giveBackAttempt(unit, [found.counter]);
      logStep(call, 'authentication', 'completed', { user_id: person.id, passkey_id: stored.id });
      return completeSignIn(call, { userId: person.id, method: 'passkey', credentialId: stored.id });
    });
  },
});

/** Finds the passkey and counts the attempt before it is judged. @throws AppError too_many_requests */
async function beginAttempt(call: Call<unknown>, unit: UnitOfWork, credentialId: string): Promise<Attempt> {
  const { request, services } = call;
  const stored = await unit.data.findOne(passkey, { credentialId: { eq: credentialId } });
  const person = stored && (await unit.data.findOne(user, { id: { eq: stored.userId } }));
  const browser = person && knownBrowser(call, person);
  const counted = browser === undefined ? `passkey:${clientNetwork(request, services)}` : `passkey-device:${browser}`;
  const counter = { key: counted, limit: attempts.limit };
  const freeAt = await takeAttempt(unit, [counter], attempts.windowMs);
  if (freeAt) throw tooManyAttempts('Too many failed sign-ins', freeAt, services.clock.now());
  return { stored, counter };
}

/**
 * Stores the values that the authenticator reports. The person is locked before the passkey, as in all sign-ins; both may have changed
 * since they were read.
 * @throws PasskeyRefusal
 */
async function useOf(unit: UnitOfWork, { id, userId }: RowOf<typeof passkey>, verified: VerifiedSignIn) {
  const data = unit.data.privileged('sign-in with passkey');
  const person = await data.findLocked(user, userId);
  if (!person?.emailConfirmedAt || person.status !== 'active') throw new PasskeyRefusal('the account is not active');
  const stored = await data.findLocked(passkey, id);
  if (!stored) throw new PasskeyRefusal('the passkey was deleted');
  if (stored.isBackupEligible !== verified.isBackupEligible)
    throw new PasskeyRefusal('whether the passkey may be copied cannot change');
  const { signCount, isBackedUp } = verified;
  // WebAuthn, section 6.1.1: authenticators that count send a greater number each time.
  if ((signCount > 0 || stored.signCount > 0) && signCount <= stored.signCount) {
    unit.recordOutsideRequest('passkey with an older counter', async (outside) =>
      outside.emit(customEvent(passkey, 'sign_count_decreased', stored, { userId })),
    );
    throw new PasskeyRefusal(`the passkey reports ${signCount} signatures after ${stored.signCount}`);
  }
  await data.update(passkey, id, { signCount, isBackedUp, lastUsedAt: unit.clock.now() });
  return person;
}

function refused(cause: unknown): AppError {
  return new AppError(
    'invalid_credentials',
    'The passkey was not accepted; begin again with /v1/authentication/options, or sign in with a password.',
    { cause },
  );
}
