import type { FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RequestContext } from './request-context.ts';

/** Whether a request shows an API token or a personal token. */
export function isWithToken({ token }: RequestContext): boolean {
  return token !== undefined && !('sessionId' in token);
}

/**
 * Rejects tokens where only people who are signed in may act: at every route and mutation that does not say that it accepts them.
 * @throws AppError permission_denied
 */
export function refuseTokens({ core }: Pick<FastifyRequest, 'core'>): void {
  if (isWithToken(core))
    throw new AppError(
      'permission_denied',
      'API tokens and personal tokens cannot do this; it needs a person who is signed in (POST /v1/login).',
    );
}
