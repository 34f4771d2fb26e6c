import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { forgetAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { hashPassword, isOutdated, maxPasswordLength, verifyPassword } from '../../auth/password.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { beginSession, SessionSchema } from './session-answer.ts';
import { tooManyAttempts } from './too-many-attempts.ts';

/** Period in which failures count, in milliseconds. */
const windowMs = 15 * 60_000;

/** Failures within the window after which an account or a network address must wait. */
const limits = { account: 10, address: 50 } as const;

/**
 * Signs in with a password. Unknown address, wrong password and unconfirmed address get the same response after the same time. The
 * password is hashed between two transactions, never inside one.
 */
export const login = defineRoute({
  method: 'POST',
  url: '/v1/login',
  tag: 'Account',
  summary: 'Sign in with a password',
  description:
    'Returns an access token for the organization that the user joined first (see /v1/switch) and sets it as a cookie for browsers. Sets a new CSRF cookie for the session.',
  access: 'public',
  body: Type.Object(
    {
      username: Type.String({ minLength: 1, maxLength: 254, description: 'E-mail address of the user.' }),
      password: Type.String({
        minLength: 1,
        maxLength: maxPasswordLength,
        writeOnly: true,
        description: 'Password.',
      }),
    },
    { additionalProperties: false },
  ),
  answers: { 200: SessionSchema },
  // It counts the attempt in a transaction of its own.
  runsOnce: true,
  errors: ['invalid_input', 'invalid_credentials', 'too_many_requests', 'overloaded'],
  handle: async (call) => {
    const { body, unit, request } = call;
    const email = body.username.trim().toLowerCase();
    const keys = {
      account: `account:${createHash('sha256').update(email).digest('hex')}`,
      address: `address:${request.ip}`,
    };
    const credential = await readCredential(call, email, keys);
    const isRight = await verifyPassword(body.password, credential?.passwordHash ?? null);
    const newHash =
      isRight && credential?.passwordHash && isOutdated(credential.passwordHash)
        ? await hashPassword(body.password)
        : undefined;

    const data = unit.data.privileged('sign-in');
    // Read again: between the two transactions the password or the status of the user may have changed.
    const person = credential && isRight ? await data.findOne(user, { id: { eq: credential.id } }) : undefined;
    if (!person?.emailConfirmedAt || person.status !== 'active' || person.passwordHash !== credential?.passwordHash)
      throw new AppError(
        'invalid_credentials',
        'The e-mail address or the password is wrong, or the address is not confirmed yet.',
      );
    if (newHash !== undefined) await data.update(user, person.id, { passwordHash: newHash });
    await forgetAttempt(unit, keys.account, keys.address);
    const [first] = await data.find(membership, {
      where: { userId: { eq: person.id } },
      orderBy: [{ field: 'createdAt', direction: 'asc' }],
      limit: 1,
    });

    return beginSession(call, person.id, first?.organizationId ?? null);
  },
});

/**
 * Reads the stored hash of an account in a transaction that ends before the hashing begins. The attempt is counted before its
 * result is known; a success removes it.
 */
async function readCredential(
  { services, request }: Call<unknown>,
  email: string,
  { account, address }: { readonly account: string; readonly address: string },
) {
  return services.database.transact(workOf(request.core, systemCaller('sign-in')), async (unit) => {
    const person = await unit.data.findOne(user, { email: { eq: email } });
    const keys = [
      { key: account, limit: limits.account },
      { key: address, limit: limits.address },
    ];
    const freeAt = await takeAttempt(unit, keys, windowMs);
    if (freeAt) throw tooManyAttempts('Too many failed sign-ins', freeAt, services.clock.now());
    return person;
  });
}
