import { isAppError } from '#entities/kit/base/errors.ts';
import { withProblems } from '#entities/kit/base/input-error.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';

/** Converts the field names of errors to snake_case, as they are in request bodies. */
export async function inSnakeCase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error) || !error.details.fields) throw error;
    throw withProblems(
      error,
      error.details.fields.map(({ path, message }) => ({ path: snakeCase(path), message })),
    );
  }
}
