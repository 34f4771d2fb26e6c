import { AppError } from '#entities/kit/base/errors.ts';
import type { AccessClaims } from '../../auth/access-token.ts';
import type { Call } from '../../http/route.ts';

/** The person and the session that register a passkey. @throws AppError permission_denied for other callers */
export function registeringPerson({ unit, request }: Call<unknown>): AccessClaims {
  const { claims } = request.core;
  if (unit.context.caller.kind !== 'user' || !claims)
    throw new AppError('permission_denied', 'Only users have passkeys; sign in as one.');
  return claims;
}
