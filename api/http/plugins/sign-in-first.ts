import { AppError } from '#entities/kit/base/errors.ts';

/** The error for a request that needs a signed-in caller and has none. */
export function signInFirst(): AppError {
  return new AppError(
    'unauthenticated',
    'You are not signed in: POST /v1/login, then send the access token as bearer token or cookie.',
  );
}
