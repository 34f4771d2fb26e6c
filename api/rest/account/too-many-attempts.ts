import { AppError } from '#entities/kit/base/errors.ts';

/** @param freeAt when the next attempt is allowed */
export function tooManyAttempts(what: string, freeAt: Date, now: Date): AppError {
  const waitMs = freeAt.getTime() - now.getTime();
  return new AppError('too_many_requests', `${what}; wait before you try again.`, {
    details: { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) },
  });
}
