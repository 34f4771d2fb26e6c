import type { FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Services } from '../../http/services.ts';

/**
 * Refuses a subscription that a page of another website opens with the cookies of a browser: the CSRF token, which protects changes, goes
 * with no websocket and no GET.
 * @param isRequired whether the request must say from which page it comes, as browsers do for websockets
 * @throws AppError foreign_origin
 */
export function checkOrigin(
  { headers, host }: FastifyRequest,
  { config }: Pick<Services, 'config'>,
  { isRequired }: { readonly isRequired: boolean },
): void {
  // A browser does not add this header by itself.
  if (headers.authorization !== undefined) return;
  const { origin } = headers;
  if (origin === undefined && !isRequired) return;
  const { enabled, alloworigins } = config.current.server.cors;
  const isListed = origin !== undefined && enabled && alloworigins.includes(origin);
  if (isListed || (origin !== undefined && hostOf(origin) === host.toLowerCase())) return;
  throw new AppError(
    'foreign_origin',
    origin === undefined
      ? 'A websocket with cookies must come from a page (header Origin); programs send the header Authorization instead.'
      : `Pages of ${origin.slice(0, 200)} may not subscribe here with cookies; server.cors.alloworigins lists those that may.`,
  );
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
