import type { FastifyRequest } from 'fastify';
import { isAppError } from '#entities/kit/base/errors.ts';
import { refreshCookieName } from '../../../auth/cookie-attributes.ts';
import type { Services } from '../../../http/services.ts';

interface Sender {
  readonly services: Services;
  readonly request: FastifyRequest;
}

/** The refresh token of a request: that of the body, else the cookie. Beside an Authorization header no cookie is used. */
export function sentRefreshToken({ services, request }: Sender, inBody?: string): string | undefined {
  if (inBody !== undefined) return inBody;
  if (request.headers.authorization !== undefined) return undefined;
  return request.cookies[refreshCookieName(services.config.current)];
}

/** The id of the session that the refresh token of a request belongs to; undefined without one that is valid. */
export async function sessionOfRefreshToken(sender: Sender, inBody?: string): Promise<string | undefined> {
  const token = sentRefreshToken(sender, inBody);
  if (token === undefined) return undefined;
  try {
    return (await sender.services.refreshTokens.verify(token)).sessionId;
  } catch (error) {
    if (isAppError(error) && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
