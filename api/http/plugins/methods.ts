import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';

/**
 * A known address with another method answers 405 and names the methods it has, instead of pretending not to exist.
 * @returns to be called when all routes stand
 */
export function rememberMethods(app: FastifyInstance): () => void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]));
  });
  return () => {
    // A copy: adding routes below adds to the map.
    for (const [url, methods] of new Map(known)) {
      const allowed = [...methods].join(', ');
      app.route({
        method: METHODS.filter((method) => !methods.has(method)),
        url,
        config: { csrf: false },
        schema: { hide: true },
        // Before the body is looked at.
        onRequest: (request, reply, done) => {
          void reply.header('allow', allowed);
          done(new AppError('method_not_allowed', `${request.method} is not answered here; use ${allowed}.`));
        },
        handler: () => {},
      });
    }
  };
}
