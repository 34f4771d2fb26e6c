import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { TokenPurpose } from '#entities/kit/base/one-time-token.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { Type } from 'typebox';
import { verifyPassword } from '../../auth/password.ts';
import { PasswordSchema } from '../account/password-schemas.ts';
import { tooManyAttempts } from '../../http/too-many-attempts.ts';

/** Passwords tried with one link within the window after which further ones are refused; the window is in milliseconds. */
const guesses = { limit: 10, windowMs: 15 * 60_000 };

/** Body of a request that confirms with a mailed link: whoever reads the mail alone cannot. */
export const LinkBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    password: PasswordSchema('Password of the account.'),
  },
  { additionalProperties: false },
);

/** Counts a password that is tried with a link before it is compared. @throws AppError too_many_requests */
export async function countGuess(unit: UnitOfWork, purpose: TokenPurpose, id: string): Promise<void> {
  const freeAt = await takeAttempt(unit, [{ key: `${purpose}:${id}`, limit: guesses.limit }], guesses.windowMs);
  if (freeAt) throw tooManyAttempts('Too many attempts with this link', freeAt, unit.clock.now());
}

/** @throws AppError invalid_credentials, overloaded */
export async function requirePassword(password: string, stored: string | null): Promise<void> {
  if (!(await verifyPassword(password, stored)))
    throw new AppError(
      'invalid_credentials',
      'password is not the password of the account that this link was mailed for.',
    );
}
