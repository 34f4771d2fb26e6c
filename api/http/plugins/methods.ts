import type { FastifyInstance } from 'fastify';

/**
 * Knows the methods of all routes that are registered from now on. Routes that refuse the other methods would be thirty times as many as
 * those of the product, and take most of the start.
 * @returns finds the methods of the route to which the target of a request leads, if there is one
 */
export function rememberMethods(app: FastifyInstance): (target: string) => string[] | undefined {
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]));
  });
  let patterns: [RegExp, Set<string>][] | undefined;
  return (target) => {
    const path = pathOf(target);
    patterns ??= [...known].map(([url, methods]) => [patternOf(url), methods]);
    // As in routing, a URL without parameters comes first.
    const methods = known.get(path) ?? patterns.find(([pattern]) => pattern.test(path))?.[1];
    return methods && [...methods];
  };
}

/** What matches the paths of a route. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${parts.join('/')}$`);
}

/** The path of any form of a request's target (RFC 9112, section 3.2); for the server as a whole, `*`, its root answers. */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1);
  return path === '*' ? '/' : decodeURI(path);
}
