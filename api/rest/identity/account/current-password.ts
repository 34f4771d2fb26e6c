import { user } from '#entities/identity/user.ts';
import { forgetAttempt, giveBackAttempt, takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { verifyPassword } from '../../../auth/password.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';

type User = RowOf<typeof user>;

/** Wrong passwords of one user within the window after which they must wait; the window is in milliseconds. */
const attempts = { limit: 10, windowMs: 15 * 60_000 };

/** Reads a signed-in person before the unit of work begins: no password is hashed within a transaction. */
export function readPerson({ services, request }: Call<unknown>, userId: string): Promise<User> {
  return services.database.transact(workOf(request.core, systemCaller('check password')), ({ data }) =>
    data.get(user, userId),
  );
}

/**
 * Compares the current password of a signed-in person, which is counted as an attempt before. Passwords that nobody judged, because
 * too many others waited, are no failures. A right password forgets the attempts (`forgetWrongPasswords`).
 * @param then further hashing with the same right to be judged
 * @throws AppError invalid_credentials, too_many_requests, overloaded
 */
export async function withCurrentPassword<T>(
  {
    services,
    request,
    unit: {
      context: { caller },
    },
  }: Call<unknown>,
  person: User,
  password: string,
  then: () => Promise<T>,
): Promise<T> {
  const counter: SignInKey = { key: counterOf(person.id, caller), limit: attempts.limit };
  const context = workOf(request.core, systemCaller('check password'));
  await services.database.transact(context, async (unit) => {
    const freeAt = await takeAttempt(unit, [counter], attempts.windowMs);
    if (freeAt) throw tooManyAttempts('Too many wrong passwords', freeAt, services.clock.now());
  });
  try {
    if (await verifyPassword(password, person.passwordHash)) return await then();
  } catch (error) {
    await services.database.transact(context, (unit) => giveBackAttempt(unit, [counter]));
    throw error;
  }
  throw new AppError('invalid_credentials', 'password is not the current password.');
}

/** After the current password was right, in the unit of work of the request. */
export async function forgetWrongPasswords({ unit }: Pick<Call<unknown>, 'unit'>, userId: string): Promise<void> {
  await forgetAttempt(unit, counterOf(userId, unit.context.caller), null);
}

/**
 * The counter of wrong passwords of a signed-in person. Sessions of each single sign-on have one of their own: whoever runs its provider
 * does not keep the person from their account.
 */
function counterOf(userId: string, { singleSignOnId }: Caller): string {
  const counter = `change-password:${userId}`;
  return singleSignOnId === null ? counter : `${counter}:${singleSignOnId}`;
}
