import { Type } from 'typebox';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { claimedId, expiredToken, invalidToken } from '#entities/kit/base/one-time-token.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { hashPassword, verifyPassword } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { createAccount, type Profile } from './create-account.ts';
import { passwordRule, PasswordSchema } from './password-schemas.ts';
import { tooManyAttempts } from '../../http/too-many-attempts.ts';
import { checkLink } from './mailed-link.ts';

type Verification = RowOf<typeof emailVerification>;

interface Body {
  readonly token: string;
  readonly password?: string;
  readonly new_password?: string;
}

/** Passwords tried with one link within the window after which further ones are refused; the window is in milliseconds. */
const guesses = { limit: 50, windowMs: 15 * 60_000 };

/**
 * Confirms the address and creates the account with a personal organization. Anybody can sign up with an address of somebody else,
 * so the link alone is not enough: who confirms knows the password of the sign-up that the link was mailed for, or sets one.
 */
export const verify = defineRoute({
  method: 'POST',
  url: '/v1/verify',
  operationId: 'verifyEmail',
  tag: 'Account',
  summary: 'Confirm an e-mail address',
  description:
    'Confirms the address with the token of an e-mailed link. Send `password`, the password of the sign-up that the link was mailed for, or `new_password` to set another; the names of that sign-up are then not used. A token can be used within seven days, until the address is confirmed.',
  access: 'public',
  body: Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
      password: Type.Optional(PasswordSchema('Password given at sign-up.')),
      new_password: Type.Optional(PasswordSchema(`Password to set instead. ${passwordRule}`)),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'What happened, as text for people.' }),
      email: Type.String({ description: 'The confirmed address.' }),
    }),
  },
  errors: [
    'invalid_input',
    'invalid_token',
    'token_expired',
    'invalid_credentials',
    'weak_password',
    'too_many_requests',
    'overloaded',
  ],
  handle: async (call) => {
    const { body, unit } = call;
    const id = claimedId('email-verification', body.token);
    if ((body.password === undefined) === (body.new_password === undefined)) throw onePasswordOnly();
    const profile = await profileOf(body, await readVerification(call, id));

    const data = unit.data.privileged('confirm address');
    const { email } = profile;
    // A concurrent confirmation of another link ends first, and this one finds the address confirmed.
    await lockEmail(unit, email);
    checkUsable(await data.findLocked(emailVerification, id), body.token, call);
    const existing = await data.findOne(user, { email: { eq: email } });
    if (existing?.emailConfirmedAt) throw invalidToken('email-verification');
    await createAccount(unit, data, profile, existing);
    return { status: 200, body: { message: 'The address is confirmed; you can sign in now.', email } };
  },
});

function onePasswordOnly(): AppError {
  const message = 'is the password of the sign-up; send it, or new_password to set another, but not both';
  return new AppError('invalid_input', `password ${message}.`, {
    details: { fields: [{ path: '/password', message }] },
  });
}

/** Reads what the token stands for in a transaction that ends before the hashing begins. A password is counted as an attempt. */
function readVerification({ services, request, body }: Call<Body>, id: string): Promise<Verification> {
  return services.database.transact(workOf(request.core, systemCaller('confirm address')), async (unit) => {
    const found = checkUsable(await unit.data.findOne(emailVerification, { id: { eq: id } }), body.token, { services });
    if (body.password !== undefined) {
      const key = { key: `verification:${id}`, limit: guesses.limit };
      const freeAt = await takeAttempt(unit, [key], guesses.windowMs);
      if (freeAt) throw tooManyAttempts('Too many attempts with this link', freeAt, services.clock.now());
    }
    return found;
  });
}

/** @throws AppError invalid_token, token_expired */
function checkUsable(
  found: Verification | undefined,
  token: string,
  { services }: Pick<Call<Body>, 'services'>,
): Verification {
  if (!found) throw invalidToken('email-verification');
  checkLink(services, 'email-verification', found.id, found.round, token);
  if (found.usedAt || !found.passwordHash) throw invalidToken('email-verification');
  if (found.expiresAt <= services.clock.now()) throw expiredToken('email-verification');
  return found;
}

/**
 * What the account gets. The names of a sign-up count only together with its password: without it, they may be a stranger's.
 * @throws AppError invalid_credentials, weak_password
 */
async function profileOf({ password, new_password: newPassword }: Body, found: Verification): Promise<Profile> {
  const { email, passwordHash, firstName, lastName } = found;
  if (newPassword !== undefined) {
    await checkStrength(newPassword, [email]);
    const hash = await hashPassword(newPassword);
    return { email, passwordHash: hash, firstName: null, lastName: null, displayName: email };
  }
  if (!(await verifyPassword(password ?? '', passwordHash)))
    throw new AppError(
      'invalid_credentials',
      'This is not the password of the sign-up that this link was mailed for. Use the link of your own sign-up, or send new_password to set a password now.',
    );
  const names = [firstName, lastName].flatMap((name) => name?.trim() || []);
  return { email, passwordHash, firstName, lastName, displayName: names.join(' ') || email };
}
