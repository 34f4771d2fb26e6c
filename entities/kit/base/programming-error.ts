import { AssertionError } from 'node:assert';

/**
 * Whether an error is a mistake in our code, so that the same work fails again however often it is tried. `fetch` reports a broken
 * connection as a TypeError too, with its cause.
 */
export function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error) || error.cause !== undefined) return false;
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof AssertionError
  );
}
