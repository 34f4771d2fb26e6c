import { Type } from 'typebox';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { claimedId, expiredToken, invalidToken } from '#entities/kit/base/one-time-token.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { hashPassword } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { NewPasswordSchema } from './password-schemas.ts';
import { personalWords } from './personal-words.ts';
import { setPassword } from './set-password.ts';
import { checkLink } from './mailed-link.ts';

type Reset = RowOf<typeof passwordReset>;

interface Body {
  readonly token: string;
  readonly password: string;
}

/** The round of every link: each request makes a record of its own. */
const round = 1;

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
    const id = claimedId('password-reset', body.token);
    const { email, words } = await readReset(call, id);
    await checkStrength(body.password, words);
    const passwordHash = await hashPassword(body.password);

    const data = unit.data.privileged('reset password');
    // A concurrent request with another link of the address ends first, and this one finds its link used.
    await lockEmail(unit, email);
    checkUsable(await data.findLocked(passwordReset, id), call);
    const person = await data.findOne(user, { email: { eq: email } });
    if (!person?.emailConfirmedAt || person.status !== 'active') throw invalidToken('password-reset');
    await setPassword(unit, data, { person, passwordHash });
    return { status: 200, body: { message: 'The new password is set; sign in with it.' } };
  },
});

/** Reads what the token stands for in a transaction that ends before the hashing begins. */
function readReset(call: Call<Body>, id: string): Promise<{ email: string; words: readonly string[] }> {
  const { services, request } = call;
  return services.database.transact(workOf(request.core, systemCaller('reset password')), async ({ data }) => {
    const { email } = checkUsable(await data.findOne(passwordReset, { id: { eq: id } }), call);
    const person = await data.findOne(user, { email: { eq: email } });
    return { email, words: person ? await personalWords(data, person) : [email] };
  });
}

/** @throws AppError invalid_token, token_expired */
function checkUsable(found: Reset | undefined, { services, body }: Call<Body>): Reset {
  if (!found) throw invalidToken('password-reset');
  checkLink(services, 'password-reset', found.id, round, body.token);
  if (found.usedAt || !found.sentAt) throw invalidToken('password-reset');
  if (found.expiresAt <= services.clock.now()) throw expiredToken('password-reset');
  return found;
}
