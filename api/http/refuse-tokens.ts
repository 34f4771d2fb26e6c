import { AppError } from '#entities/kit/base/errors.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import { isLimited } from '#entities/kit/model/scopes.ts';

/**
 * Rejects tokens, and whoever acts as somebody else, where only people who are signed in may act: at every route and mutation that does
 * not say that it accepts them (`acceptsTokens`).
 * @throws AppError permission_denied
 */
export function refuseTokens(caller: Caller): void {
  if (caller.delegation !== null)
    throw new AppError(
      'permission_denied',
      'A caller who acts as another user cannot do this; it needs the person themselves, signed in (POST /v1/login).',
    );
  if (isLimited(caller))
    throw new AppError(
      'permission_denied',
      'API tokens and personal tokens cannot do this; it needs a person who is signed in (POST /v1/login).',
    );
}
