import { Type } from 'typebox';
import { maxPasswordLength } from '../../../auth/password.ts';

/** A password as it is written by a person. */
export function PasswordSchema(description: string) {
  return Type.String({ minLength: 1, maxLength: maxPasswordLength, writeOnly: true, description });
}

/** Requirements of a new password. */
export const passwordRule =
  'It must be hard to guess, for example several unrelated words, and not consist of the names or the address of the user, or of the name of the organization.';

export const NewPasswordSchema = PasswordSchema(`New password. ${passwordRule}`);
