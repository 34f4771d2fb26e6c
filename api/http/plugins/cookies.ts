import cookie, { type SerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface PendingCookie {
  readonly name: string;
  readonly value: string;
  readonly options: SerializeOptions;
  /** Goes out with refusals too; a credential never does. */
  readonly isForRefusals: boolean;
}

/**
 * Cookies leave with the answer and not before it is certain: when the handler, the serializer or the COMMIT fails after a
 * sign-in, nobody is signed in. An answer that caches may share carries none.
 */
export async function cookiesPlugin(app: FastifyInstance): Promise<void> {
  await app.register(cookie);
}

/** To be called after the plugin that ends the unit of work: hooks run in the order in which they are added. */
export function sendCookies(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isRefused = reply.statusCode >= 400;
    const isShared = /\bpublic\b/.test(String(reply.getHeader('cache-control') ?? ''));
    const cookies = request.core.cookies.filter(({ isForRefusals }) => !isRefused || isForRefusals);
    if (cookies.length > 0 && !isShared) {
      reply.header(
        'set-cookie',
        cookies.map(({ name, value, options }) => app.serializeCookie(name, value, options)),
      );
    }
    done(null, payload);
  });
}

/** Gives the browser a cookie with the answer; the last one of a name counts. */
export function giveCookie(
  { core }: FastifyRequest,
  name: string,
  value: string,
  options: SerializeOptions,
  { isForRefusals = false }: { readonly isForRefusals?: boolean } = {},
): void {
  core.cookies = [
    ...core.cookies.filter((pending) => pending.name !== name || pending.isForRefusals !== isForRefusals),
    { name, value, options, isForRefusals },
  ];
}

/** Takes a cookie back. */
export function takeCookie(request: FastifyRequest, name: string, options: SerializeOptions): void {
  giveCookie(request, name, '', { ...options, maxAge: 0, expires: new Date(0) });
}
