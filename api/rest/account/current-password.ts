import { user } from '#entities/identity/user.ts';
import { giveBackAttempt, takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { verifyPassword } from '../../auth/password.ts';
import { workOf } from '../../http/request-context.ts';
import type { Call } from '../../http/route.ts';
import { tooManyAttempts } from './too-many-attempts.ts';

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
 * too many others waited, are no failures. Whoever succeeds forgets the attempts (`passwordCounter`).
 * @param then further hashing with the same right to be judged
 * @throws AppError invalid_credentials, too_many_requests, overloaded
 */
export async function withCurrentPassword<T>(
  { services, request }: Call<unknown>,
  person: User,
  password: string,
  then: () => Promise<T>,
): Promise<T> {
  const counter: SignInKey = { key: passwordCounter(person.id), limit: attempts.limit };
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

/** The counter of wrong passwords of a signed-in person. */
export function passwordCounter(userId: string): string {
  return `change-password:${userId}`;
}
