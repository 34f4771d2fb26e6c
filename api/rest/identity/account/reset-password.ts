import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { invalidToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { hashPassword } from '../../../auth/password.ts';
import { checkStrength } from '../../../auth/password-strength.ts';
import { MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { linkKinds } from './link-kinds.ts';
import { NewPasswordSchema } from './password-schemas.ts';
import { personalWords } from './personal-words.ts';
import { redeemLink } from './redeem-link.ts';
import { setPassword } from './set-password.ts';

/** Sets a password with the token of a mailed link, once. */
export const resetPassword = defineRoute({
  method: 'POST',
  url: '/v1/password-reset',
  operationId: 'resetPassword',
  tag: 'Account',
  summary: 'Set a new password with an e-mailed link',
  description:
    'Sets the password with the token of the e-mailed link, once. All devices of the user are signed out, all other links stop working, and the passkeys, linked identities and personal tokens of the user are removed, because somebody else may have added them. A second factor stays. Sign in with the new password afterwards.',
  access: 'anonymous',
  body: Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 200, writeOnly: true, description: 'Token of the e-mailed link.' }),
      password: NewPasswordSchema,
    },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'invalid_token', 'token_expired', 'weak_password', 'overloaded'],
  handle: async (call) => {
    const { body, unit } = call;
    const { known, proof, data } = await redeemLink(call, linkKinds['password-reset'], {
      guesses: undefined,
      read: async ({ email }, own) => {
        const person = await own.data.findOne(user, { email: { eq: email } });
        return { email, words: person ? await personalWords(own.data, person) : [email] };
      },
      prove: async ({ words }) => {
        await checkStrength(body.password, words);
        return hashPassword(body.password);
      },
      addresses: ({ email }) => [email],
    });
    const person = await data.findOne(user, { email: { eq: known.email } });
    if (!person?.emailConfirmedAt || person.status !== 'active') throw invalidToken('password-reset');
    await setPassword(unit, data, { person, passwordHash: proof });
    return { status: 200, body: { message: 'The new password is set; sign in with it.' } };
  },
});
