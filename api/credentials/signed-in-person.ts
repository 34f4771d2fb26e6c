import { AppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../auth/access-token.ts';
import type { Asking } from './asking.ts';

/** The claims of a signed-in person. @throws AppError permission_denied for other callers */
export function signedInPerson({ unit, request }: Pick<Asking, 'unit' | 'request'>): AccessClaims {
  const { claims } = request.core;
  if (unit.context.caller.kind !== 'user' || !claims)
    throw new AppError(
      'permission_denied',
      'Only a person who is signed in can do this, and neither a token for programs nor a caller who acts as another user. Sign in with POST /v1/login, and send the access token of the answer.',
    );
  return claims;
}
