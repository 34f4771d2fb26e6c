import cookie, { type SerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface PendingCookie {
  readonly name: string;
  readonly value: string;
  readonly options: SerializeOptions;
  /** Whether it is also sent with error responses; credentials never are. */
  readonly isForRefusals: boolean;
}

/**
 * Cookies are only sent with the final response: if the handler, the serializer or the COMMIT fails after a sign-in, nobody is
 * signed in. Responses that shared caches may store carry no cookies.
 */
export async function cookiesPlugin(app: FastifyInstance): Promise<void> {
  await app.register(cookie);
}

/** Must be registered after the hook that ends the unit of work, because hooks run in the order of registration. */
export function sendCookies(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isRefused = reply.statusCode >= 400;
    const isShared = /\bpublic\b/.test(String(reply.getHeader('cache-control') ?? ''));
    const cookies = isRefused
      ? request.core.cookies.filter(({ isForRefusals }) => isForRefusals)
      : request.core.cookies;
    if (cookies.length > 0 && !isShared) {
      reply.header(
        'set-cookie',
        cookies.map(({ name, value, options }) => app.serializeCookie(name, value, options)),
      );
    }
    done(null, payload);
  });
}

/** Sets a cookie with the response; the last one of a name is used. */
export function giveCookie(
  { core }: FastifyRequest,
  name: string,
  value: string,
  options: SerializeOptions,
  { isForRefusals = false }: { readonly isForRefusals?: boolean } = {},
): void {
  const others = core.cookies.filter((pending) => pending.name !== name || pending.isForRefusals !== isForRefusals);
  others.push({ name, value, options, isForRefusals });
  core.cookies = others;
}

/** Deletes a cookie in the browser. */
export function takeCookie(request: FastifyRequest, name: string, options: SerializeOptions): void {
  giveCookie(request, name, '', { ...options, maxAge: 0, expires: new Date(0) });
}
