import { AppError } from '#entities/kit/base/errors.ts';
import { Type } from 'typebox';
import { verifyPassword } from '../../../auth/password.ts';
import { PasswordSchema } from '../account/password-schemas.ts';

/** Passwords that may be tried with one link within a quarter of an hour. */
export const maxGuesses = 10;

/** Body of a request that confirms with a mailed link: whoever reads the mail alone cannot. */
export const LinkBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
    password: PasswordSchema('Password of the account.'),
  },
  { additionalProperties: false },
);

/** @throws AppError invalid_credentials, overloaded */
export async function requirePassword(password: string, stored: string | null): Promise<void> {
  if (!(await verifyPassword(password, stored)))
    throw new AppError(
      'invalid_credentials',
      'password is not the password of the account that this link was mailed for.',
    );
}
