import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';

/**
 * Answers 405 with the allowed methods, instead of 404, where a URL is known with other methods.
 * @returns a function to call after all routes have been registered
 */
export function rememberMethods(app: FastifyInstance): () => void {
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]));
  });
  return () => {
    // A copy, because registering routes below adds to the map.
    for (const [url, methods] of new Map(known)) {
      const allowed = [...methods].join(', ');
      app.route({
        method: METHODS.filter((method) => !methods.has(method)),
        url,
        config: { csrf: false },
        schema: { hide: true },
        // Before the body is read.
        onRequest: (request, reply, done) => {
          void reply.header('allow', allowed);
          done(new AppError('method_not_allowed', `${request.method} is not allowed here; use ${allowed}.`));
        },
        handler: () => {},
      });
    }
  };
}
