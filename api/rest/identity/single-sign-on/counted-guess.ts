import { giveBackAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { clientNetwork } from '../../../http/limits/client-address.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import { transactApart } from './organization-provider.ts';

/** Wrong guesses from one network within the window, in milliseconds. */
const guesses = { limit: 30, windowMs: 15 * 60_000 };

interface Guess<T> {
  /** Kind of the guess: each has a counter of its own. */
  readonly key: string;
  /** The beginning of the refusal beyond the limit. */
  readonly tooMany: string;
  /** Fails for a wrong guess, or returns a result that `isRight` refuses. */
  readonly find: () => Promise<T>;
  readonly isRight?: (found: T) => boolean;
}

/**
 * Counts guesses of a network before it learns anything: beyond the limit, a right guess gets the same answer as others.
 * @throws what `find` throws, or AppError too_many_requests
 */
export async function countedAsGuess<T>(call: Call<unknown>, guess: Guess<T>): Promise<T> {
  const { services, request } = call;
  const key = { key: `${guess.key}:${clientNetwork(request, services)}`, limit: guesses.limit };
  await transactApart(call, async (unit) => {
    const freeAt = await takeAttempt(unit, [key], guesses.windowMs);
    if (freeAt) throw tooManyAttempts(guess.tooMany, freeAt, services.clock.now());
  });
  const found = await guess.find();
  if (guess.isRight?.(found) ?? true) await transactApart(call, (unit) => giveBackAttempt(unit, [key]));
  return found;
}
