import { Type } from 'typebox';
import { secondFactor } from '#entities/identity/second-factor.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { forgetAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { recoveryCodeHash } from '../../../auth/recovery-codes.ts';
import { openSecret, sealSecret } from '#entities/kit/base/secrets/sealed-secret.ts';
import { stepOfCode } from '../../../auth/authenticator-app.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import type { Factor } from '../../../credentials/confirmed-factor.ts';

/** A code of the app, or a recovery code in its place. */
interface GivenCode {
  readonly code?: string;
  readonly recovery_code?: string;
}

export const CodeSchema = Type.String({
  minLength: 6,
  maxLength: 16,
  pattern: '^[0-9 ]+$',
  examples: ['123456'],
  writeOnly: true,
  description: 'Digits that the authenticator app shows, such as 123456.',
});

export const codeFields = {
  code: Type.Optional(CodeSchema),
  recovery_code: Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 128,
      writeOnly: true,
      description: 'Recovery code in place of a code of the app. It can be used once.',
    }),
  ),
};

/** Options of a body of which exactly one property is sent; which one is missing is said in words of its own. */
export const oneOfThem = { additionalProperties: false, [describedKeyword]: { minProperties: 1, maxProperties: 1 } };

/** Codes of one person, whatever for and from where, after which the person must wait; the window is in milliseconds. */
const attempts = { limit: 10, windowMs: 15 * 60_000 };

/**
 * Counts a code before anybody looks at it, in a transaction of its own. The route `runsOnce`, and its unit of work has not begun.
 * @param singleSignOnId the organization with whose single sign-on the person signs in, or has signed in; null for others
 * @throws AppError too_many_requests; invalid_input unless exactly one code is given
 */
export async function countCode(
  { services, request }: Call<unknown>,
  userId: string,
  given: GivenCode,
  singleSignOnId: string | null = null,
): Promise<void> {
  if ((given.code === undefined) === (given.recovery_code === undefined)) throw oneCodeOnly();
  const counter = { key: counterOf(userId, singleSignOnId), limit: attempts.limit };
  await services.database.transact(workOf(request.core, systemCaller('count codes')), async (unit) => {
    const freeAt = await takeAttempt(unit, [counter], attempts.windowMs);
    if (freeAt) throw tooManyAttempts('Too many wrong codes', freeAt, services.clock.now());
  });
}

/**
 * Accepts a code once, and forgets the wrong ones before it. The code has been counted, and the user is locked, so that of several
 * requests with one code the first finds it unused, and the others find it used.
 * @param singleSignOnId as it was for `countCode`
 * @throws AppError invalid_credentials
 */
export async function acceptCode(
  call: Call<unknown>,
  factor: Factor,
  given: GivenCode,
  singleSignOnId: string | null = null,
): Promise<void> {
  const { unit } = call;
  const { secret, isCurrent } = await openSecret(factor.sealedSecret ?? '', sealing(call, factor.id));
  const changes =
    given.code === undefined ? withoutCode(factor, secret, given) : await withStep(call, factor, secret, given.code);
  if (!changes) throw wrongCode(given);
  const changed = await unit.data.privileged('second factor').update(secondFactor, factor.id, {
    ...changes,
    ...(isCurrent ? {} : { sealedSecret: await sealSecret(secret, sealing(call, factor.id)) }),
  });
  await forgetAttempt(unit, counterOf(factor.userId, singleSignOnId), null);
  if (given.recovery_code !== undefined)
    unit.emit(customEvent(secondFactor, 'recovery_code_used', changed, { userId: factor.userId }));
}

/** How the secret of a factor is encrypted. @param id of the factor */
export function sealing({ services }: Call<unknown>, id: string) {
  return { secrets: services.config.current.totp.secret, purpose: 'totp-secret', subject: id } as const;
}

async function withStep({ services }: Call<unknown>, factor: Factor, secret: string, code: string) {
  const { userId, digits, lastUsedStep } = factor;
  const step = await stepOfCode(code.replaceAll(' ', ''), { secret, digits, lastUsedStep }, services.clock.now());
  if (step === undefined) return undefined;
  const isFirst = !services.config.current.totp.cache || (await services.usedCodes.take(userId, step));
  return isFirst ? { lastUsedStep: step } : undefined;
}

function withoutCode({ userId, recoveryCodeHashes }: Factor, secret: string, { recovery_code: code = '' }: GivenCode) {
  const used = recoveryCodeHash(secret, userId, code);
  const held = (recoveryCodeHashes ?? []) as string[];
  const left = held.filter((hash) => hash !== used);
  return left.length === held.length ? undefined : { recoveryCodeHashes: left, recoveryCodesLeft: left.length };
}

/** Each single sign-on has a counter of its own: whoever runs its provider does not lock the person out of the account. */
function counterOf(userId: string, singleSignOnId: string | null): string {
  const counter = `second-factor:${userId}`;
  return singleSignOnId === null ? counter : `${counter}:${singleSignOnId}`;
}

function wrongCode({ code }: GivenCode): AppError {
  const message =
    code === undefined
      ? 'The recovery code is wrong or has been used: each is valid once. Send another one of the newest list as recovery_code.'
      : 'The code is wrong, has expired, or has been used. Send as code the digits that your app shows now; if they are refused, too, check the clock of its device, or send a recovery_code.';
  return new AppError('invalid_credentials', message);
}

function oneCodeOnly(): AppError {
  const message =
    'is the code that your authenticator app shows; send it, or recovery_code in its place, and only one of them';
  return new AppError('invalid_input', `code ${message}.`, { details: { fields: [{ path: '/code', message }] } });
}
