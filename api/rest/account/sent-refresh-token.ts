import type { FastifyRequest } from 'fastify';
import { isAppError } from '#entities/kit/base/errors.ts';
import { refreshCookieName } from '../../auth/cookie-attributes.ts';
import type { RefreshClaims } from '../../auth/refresh-token.ts';
import type { Services } from '../../http/services.ts';

interface Sender {
  readonly services: Services;
  readonly request: FastifyRequest;
}

/** The refresh token of a request: that of the body, else the cookie. Beside an Authorization header no cookie counts. */
export function sentRefreshToken({ services, request }: Sender, inBody?: string): string | undefined {
  if (inBody !== undefined) return inBody;
  if (request.headers.authorization !== undefined) return undefined;
  return request.cookies[refreshCookieName(services.config.current)];
}

/** The session that a refresh token belongs to; undefined for a token that is not valid. */
export async function sessionOfRefreshToken({ services }: Sender, token: string): Promise<RefreshClaims | undefined> {
  try {
    return await services.refreshTokens.verify(token);
  } catch (error) {
    if (isAppError(error) && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
