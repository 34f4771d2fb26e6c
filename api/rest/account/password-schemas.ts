import { Type } from 'typebox';
import { maxPasswordLength } from '../../auth/password.ts';

/** A password as it is written by a person. */
export function PasswordSchema(description: string) {
  return Type.String({ minLength: 1, maxLength: maxPasswordLength, writeOnly: true, description });
}

export const NewPasswordSchema = PasswordSchema('New password: at least 12 characters, or hard to guess.');
