import { limitExceeded } from '#entities/kit/base/input-error.ts';

/** Maximum number of values in the input of a request: members of objects and items of lists. Checking each of them takes time. */
const maxValues = 20_000;

/**
 * Rejects input with too many values before anything else looks at them.
 * @throws AppError limit_exceeded
 */
export function checkValueCount(input: unknown): void {
  let count = 0;
  let level: unknown[] = [input];
  while (level.length > 0) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
      count += inner.length;
      if (count > maxValues)
        throw limitExceeded(
          `The request has more than ${maxValues} values (members of objects and items of lists); split it.`,
          { path: '/', message: `has more than ${maxValues} values` },
        );
      for (const item of inner) next.push(item);
    }
    level = next;
  }
}
