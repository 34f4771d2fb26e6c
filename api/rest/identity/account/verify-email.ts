import { Type } from 'typebox';
import type { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { hashPassword, verifyPassword } from '../../../auth/password.ts';
import { checkStrength } from '../../../auth/password-strength.ts';
import { defineRoute } from '../../../http/route.ts';
import { createAccount, type Profile } from './create-account.ts';
import { linkKinds } from './link-kinds.ts';
import { passwordRule, PasswordSchema } from './password-schemas.ts';
import { redeemLink } from './redeem-link.ts';

type Verification = RowOf<typeof emailVerification>;

interface Body {
  readonly token: string;
  readonly password?: string;
  readonly new_password?: string;
}

/** Passwords that may be tried with one link within a quarter of an hour. */
const maxGuesses = 50;

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
    {
      additionalProperties: false,
      [describedKeyword]: { minProperties: 2, maxProperties: 2 },
      examples: [{ token: 'token of the link', password: 'password of the sign-up' }],
    },
  ),
  answers: {
    200: Type.Object({
      message: Type.String({ description: 'Result, as text for people.' }),
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
    if ((body.password === undefined) === (body.new_password === undefined)) throw onePasswordOnly();
    const { proof: profile, data } = await redeemLink(call, linkKinds['email-verification'], {
      guesses: body.password === undefined ? undefined : maxGuesses,
      read: (found) => found,
      prove: (found) => profileOf(body, found),
      addresses: ({ email }) => [email],
    });
    // A concurrent confirmation of another link has ended, so this one finds the address confirmed.
    const { email } = profile;
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

/**
 * Initial values of the account. The names of a sign-up are used only together with its password: without it, they may be a stranger's.
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
