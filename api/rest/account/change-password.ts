import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { forgetAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import { hashPassword, verifyPassword } from '../../auth/password.ts';
import { checkStrength } from '../../auth/password-strength.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { NewPasswordSchema, PasswordSchema } from './password-schemas.ts';
import { setPassword } from './set-password.ts';
import { tooManyAttempts } from './too-many-attempts.ts';

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
    const counter = { key: `change-password:${claims.userId}`, limit: attempts.limit };
    const person = await readPerson(call, claims, counter);
    if (!(await verifyPassword(body.password, person.passwordHash)))
      throw new AppError('invalid_credentials', 'password is not the current password.');
    if (body.new_password === body.password)
      throw new AppError('weak_password', 'new_password is the current password; choose another one.');
    await checkStrength(body.new_password, [person.email, person.displayName]);
    const passwordHash = await hashPassword(body.new_password);

    const data = unit.data.privileged('change password');
    const locked = await data.findLocked(user, person.id);
    // Somebody else may have set another one meanwhile.
    if (locked?.passwordHash !== person.passwordHash) throw signInFirst();
    await setPassword(unit, data, { userId: person.id, passwordHash }, claims.sessionId);
    await forgetAttempt(unit, counter.key, null);
    return { status: 200, body: { message: 'The password is changed; all other devices are signed out.' } };
  },
});

/** Reads the user and counts the attempt, in a transaction that ends before the hashing begins. */
function readPerson(
  { services, request }: Call<unknown>,
  { userId }: AccessClaims,
  counter: { readonly key: string; readonly limit: number },
) {
  return services.database.transact(workOf(request.core, systemCaller('change password')), async (unit) => {
    const person = await unit.data.get(user, userId);
    const freeAt = await takeAttempt(unit, [counter], attempts.windowMs);
    if (freeAt) throw tooManyAttempts('Too many wrong passwords', freeAt, services.clock.now());
    return person;
  });
}
