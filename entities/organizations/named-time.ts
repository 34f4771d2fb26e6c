import { inputError } from '../kit/base/input-error.ts';
import { parseDayOrInstant } from '../kit/base/instant.ts';

const dayMs = 86_400_000;

/**
 * A time to come, as a day, which begins in UTC, or as an instant.
 * @param path of the part of the input
 * @throws AppError invalid_input
 */
export function namedTime(
  text: string,
  path: string,
  { now, maxDays }: { readonly now: Date; readonly maxDays?: number },
): Date {
  const at = parseDayOrInstant(text);
  const problem = !at
    ? 'must be a day such as 2027-01-31, or an instant (RFC 3339)'
    : at <= now
      ? 'must be in the future'
      : maxDays !== undefined && at.getTime() - now.getTime() > maxDays * dayMs
        ? `must be at most ${maxDays} days from now`
        : undefined;
  if (!at || problem !== undefined) throw inputError([{ path, message: `${problem}; it is "${text.slice(0, 100)}"` }]);
  return at;
}
