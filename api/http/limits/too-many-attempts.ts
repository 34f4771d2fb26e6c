import { AppError } from '#entities/kit/base/errors.ts';

/**
 * @param freeAt when the next attempt is allowed
 * @param otherwise what else helps, as the end of a sentence
 */
export function tooManyAttempts(what: string, freeAt: Date, now: Date, otherwise = ''): AppError {
  const seconds = Math.max(1, Math.ceil((freeAt.getTime() - now.getTime()) / 1_000));
  return new AppError('too_many_requests', `${what}; try again in ${inWords(seconds)}${otherwise}.`, {
    details: { retryAfterSeconds: seconds },
  });
}

function inWords(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
