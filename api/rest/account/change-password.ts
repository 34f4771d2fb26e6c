import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { forgetAttempt, giveBackAttempt, takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { hashPassword, verifyPassword } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { NewPasswordSchema, PasswordSchema } from './password-schemas.ts';
import { personalWords, setPassword } from './set-password.ts';
import { tooManyAttempts } from './too-many-attempts.ts';

type User = RowOf<typeof user>;

interface Body {
  readonly password: string;
  readonly new_password: string;
}

/** Wrong passwords of one user within the window after which they must wait; the window is in milliseconds. */
const attempts = { limit: 10, windowMs: 15 * 60_000 };

/** Who has only found a device of somebody signed in does not know the password, and cannot change it. */
export const changePassword = defineRoute({
  method: 'POST',
  url: '/v1/change-password',
  tag: 'Account',
  summary: 'Change the password',
  description:
    'Sets a new password if the current one is right. All other devices of the user are signed out. After ten wrong passwords the user waits for a quarter of an hour.',
  access: 'required',
  body: Type.Object(
    { password: PasswordSchema('Current password.'), new_password: NewPasswordSchema },
    { additionalProperties: false },
  ),
  answers: { 200: MessageSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: [
    'invalid_input',
    'invalid_credentials',
    'permission_denied',
    'weak_password',
    'too_many_requests',
    'overloaded',
  ],
  handle: async (call) => {
    const { body, unit, request } = call;
    const { claims } = request.core;
    if (unit.context.caller.kind !== 'user' || !claims)
      throw new AppError('permission_denied', 'Only users have a password.');
    const person = await readUser(call, claims);
    if (body.new_password === body.password)
      throw new AppError('weak_password', 'new_password is the same as password; choose another one.');
    await checkStrength(body.new_password, personalWords(person));
    const passwordHash = await newHash(call, person);

    const data = unit.data.privileged('change password');
    await lockEmail(unit, person.email);
    const locked = await data.findLocked(user, person.id);
    // Somebody else may have set another one meanwhile.
    if (locked?.passwordHash !== person.passwordHash) throw signInFirst();
    await setPassword(unit, data, { person, passwordHash }, claims.sessionId);
    await forgetAttempt(unit, counterOf(person).key, null);
    return { status: 200, body: { message: 'The password is changed; all other devices are signed out.' } };
  },
});

function readUser({ services, request }: Call<unknown>, { userId }: AccessClaims): Promise<User> {
  return services.database.transact(workOf(request.core, systemCaller('change password')), ({ data }) =>
    data.get(user, userId),
  );
}

/**
 * Compares the current password, which is counted as an attempt before, and hashes the new one. Passwords that nobody judged, because
 * too many others waited, are no failures.
 * @throws AppError invalid_credentials, too_many_requests, overloaded
 */
async function newHash({ services, request, body }: Call<Body>, person: User): Promise<string> {
  const counter = counterOf(person);
  const context = workOf(request.core, systemCaller('change password'));
  await services.database.transact(context, async (unit) => {
    const freeAt = await takeAttempt(unit, [counter], attempts.windowMs);
    if (freeAt) throw tooManyAttempts('Too many wrong passwords', freeAt, services.clock.now());
  });
  try {
    if (await verifyPassword(body.password, person.passwordHash)) return await hashPassword(body.new_password);
  } catch (error) {
    await services.database.transact(context, (unit) => giveBackAttempt(unit, [counter]));
    throw error;
  }
  throw new AppError('invalid_credentials', 'password is not the current password.');
}

function counterOf({ id }: User): SignInKey {
  return { key: `change-password:${id}`, limit: attempts.limit };
}
