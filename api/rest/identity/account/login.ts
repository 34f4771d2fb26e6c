import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { readSignInCredential } from '#entities/identity/sign-in-credential-rows.ts';
import {
  forgetAttempt,
  giveBackAttempt,
  takeAttemptApart,
  type SignInKey,
} from '#entities/kit/access/sign-in-failures.ts';
import { hashPassword, isOutdated, verifyPassword } from '../../../auth/password.ts';
import { clientNetwork } from '../../../http/limits/client-address.ts';
import { workOf } from '../../../http/request-context.ts';
import { defineRoute, type Call } from '../../../http/route.ts';
import { accountKey } from './account-key.ts';
import { completeSignIn, SignInSchema, wrongPassword } from './complete-sign-in.ts';
import { knownBrowser } from './known-browser.ts';
import { PasswordSchema } from './password-schemas.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';

/** Period in which failures are counted, in milliseconds. */
const windowMs = 15 * 60_000;

/** Failures within the window after which an account, a browser of its owner, or a network address must wait. */
const limits = { account: 10, device: 10, address: 50 } as const;

const orReset = '; a new password (POST /v1/forgot-password) ends the wait of an account';

/**
 * Signs in with a password. Unknown address, wrong password and unconfirmed address get the same response after the same time. The
 * password is hashed between two transactions, never inside one.
 */
export const login = defineRoute({
  method: 'POST',
  url: '/v1/login',
  operationId: 'login',
  tag: 'Account',
  summary: 'Sign in with a password',
  description:
    'Begins a session, or returns a challenge for /v1/2fa/validate if the user has a second factor. Returns an access token for the organization in which the user acted last (see /v1/switch): at first the one that invited them, else their default organization, else their personal one. Also returns a refresh token (see /v1/refresh). Sets both as cookies for browsers, with a new CSRF cookie for the session. After ten failures the account waits for a quarter of an hour, after fifty the network address. Failures of a browser that has signed in to the account before are counted separately, so that attackers cannot lock its owner out; the cookie `known_devices` identifies such browsers.',
  access: 'public',
  body: Type.Object(
    {
      username: Type.String({ minLength: 1, maxLength: 254, description: 'E-mail address of the user.' }),
      password: PasswordSchema('Password.'),
    },
    { additionalProperties: false },
  ),
  answers: { 200: SignInSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_credentials', 'single_sign_on_required', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const { body, unit } = call;
    const email = emailForm(body.username);
    const { credential, attempt } = await readCredential(call, email);
    const isRight = await verifyPassword(body.password, credential?.passwordHash ?? null).catch((error: unknown) =>
      notJudged(call, attempt, error),
    );
    if (!credential?.passwordHash || !isRight) throw wrongPassword();
    const passwordHash = await currentHash(
      unit,
      { ...credential, passwordHash: credential.passwordHash },
      body.password,
    );
    const [cleared, reduced] = attempt.counters;
    return completeSignIn(call, {
      userId: credential.id,
      method: 'password',
      credentialId: null,
      passwordHash,
      // After the lock of the user, which others hold when they count attempts.
      alongside: () => forgetAttempt(unit, cleared.key, reduced?.key ?? null),
    });
  },
});

/**
 * The stored hash; if it was made with parameters that are outdated, one of the same password with those of today replaces it.
 * @throws AppError invalid_credentials if another password was set meanwhile
 */
async function currentHash(
  unit: UnitOfWork,
  { id, passwordHash }: { readonly id: string; readonly passwordHash: string },
  password: string,
): Promise<string> {
  if (!isOutdated(passwordHash)) return passwordHash;
  const newHash = await hashPassword(password);
  const data = unit.data.privileged('sign-in');
  const person = await data.findLocked(user, id);
  if (person?.passwordHash !== passwordHash) throw wrongPassword();
  await data.update(user, id, { passwordHash: newHash });
  return newHash;
}

/** An attempt to sign in, and where it is counted: at the browser if its cookie is of this account, else at account and address. */
interface Attempt {
  readonly counters: readonly [cleared: SignInKey, ...reduced: SignInKey[]];
}

function attemptOf(call: Call<unknown>, email: string, passwordHash: string | null): Attempt {
  const account = accountKey(email);
  const browser = knownBrowser(call, { email, passwordHash });
  if (browser !== undefined) return { counters: [{ key: `device:${browser}`, limit: limits.device }] };
  const address = `address:${clientNetwork(call.request, call.services)}`;
  return {
    counters: [
      { key: account, limit: limits.account },
      { key: address, limit: limits.address },
    ],
  };
}

/**
 * Reads the stored hash of an account. The attempt is counted before its result is known; a success removes it. Both transactions end before
 * the hashing begins.
 */
async function readCredential(call: Call<unknown>, email: string) {
  const { services, request } = call;
  const { database, clock } = services;
  const credential = await readSignInCredential(database, email, request.core);
  const attempt = attemptOf(call, email, credential?.passwordHash ?? null);
  const freeAt = await takeAttemptApart(database, attempt.counters, windowMs, request.core);
  if (freeAt) throw tooManyAttempts('Too many failed sign-ins', freeAt, clock.now(), orReset);
  return { credential, attempt };
}

/** A password that was not compared, because too many others waited, is no failure. */
async function notJudged({ services, request }: Call<unknown>, { counters }: Attempt, error: unknown): Promise<never> {
  await services.database.transact(workOf(request.core, systemCaller('sign-in')), (unit) =>
    giveBackAttempt(unit, counters),
  );
  throw error;
}
