import type { FastifyInstance, HTTPMethods } from 'fastify';
import { AppError } from '#entities/kit/errors.ts';

const all: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * A known address with another method answers 405 and names the methods it has, instead of pretending not to exist.
 * @returns to be called when all routes stand
 */
export function rememberMethods(app: FastifyInstance): () => void {
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]));
  });
  return () => {
    // A copy: adding routes below adds to the map.
    for (const [url, methods] of new Map(known)) {
      const others = all.filter((method) => !methods.has(method));
      if (others.length === 0) continue;
      const allowed = [...methods].join(', ');
      app.route({
        method: [...others],
        url,
        config: { csrf: false },
        schema: { hide: true },
        handler: (request, reply) => {
          void reply.header('allow', allowed);
          throw new AppError('method_not_allowed', `${request.method} is not answered here; use ${allowed}.`);
        },
      });
    }
  };
}
