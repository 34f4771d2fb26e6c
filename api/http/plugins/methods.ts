import type { FastifyInstance } from 'fastify';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { routedPath } from './routed-path.ts';

export interface KnownAddresses {
  /** The methods of the route to which the target of a request leads, if there is one. */
  methodsAt(target: string): string[] | undefined;
  /** The name of the parameter that a route with this method has below a path, as its last part. */
  parameterBelow(path: string, method: string): string | undefined;
  /** The address of a route that is similar to a path that leads to none. */
  near(path: string): string | undefined;
}

/** Longer paths are not compared with those of the routes: this would take time. */
const maxComparedLength = 80;

/**
 * Knows the addresses and methods of all routes that are registered from now on. Routes that refuse the other methods would be thirty
 * times as many as those of the product, and take most of the start.
 */
export function knownAddresses(app: FastifyInstance): KnownAddresses {
  const known = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    known.set(url, new Set([...(known.get(url) ?? []), ...[method].flat()]));
  });
  let patterns: [RegExp, Set<string>][] | undefined;
  return {
    methodsAt: (target) => {
      const path = routedPath(target);
      // As in routing, a part that stands in the URL comes before a parameter in its place.
      patterns ??= [...known]
        .toSorted(([one], [other]) => parametersIn(one) - parametersIn(other))
        .map(([url, methods]) => [patternOf(url), methods]);
      const methods = known.get(path) ?? patterns.find(([pattern]) => pattern.test(path))?.[1];
      return methods && [...methods];
    },
    parameterBelow: (path, method) => {
      const url = [...known].find(
        ([one, methods]) => methods.has(method) && /\/:\w+$/.test(one) && patternOf(one).test(`${path}/-`),
      )?.[0];
      return url?.slice(url.lastIndexOf(':') + 1);
    },
    near: (path) =>
      path.length > maxComparedLength
        ? undefined
        : didYouMean(path, new Set([...known.keys()].filter(resembles(path)).map(withValuesOf(path)))),
  };
}

/**
 * Whether each part of a route's URL is the part of the path in its place, or is mistyped there. Neither its version nor a value that any
 * path could have is a similarity: `/v1/roles` is not `/v1/files`.
 */
function resembles(path: string): (url: string) => boolean {
  const sent = path.split('/');
  return (url) => {
    const parts = url.split('/');
    if (parts.length !== sent.length) return false;
    const said = parts
      .map((part, index) => ({ part, index }))
      .filter(({ part }) => part !== '' && !part.startsWith(':'));
    const own = said.filter(({ part, index }) => index > 1 || part !== sent[1]);
    return own.length > 0 && own.every(({ part, index }) => didYouMean(sent[index] ?? '', [part], 4) !== undefined);
  };
}

/** Fills the parameters of a route's URL with the parts of a path that stand in their places. */
function withValuesOf(path: string): (url: string) => string {
  const sent = path.split('/');
  return (url) =>
    url
      .split('/')
      .map((part, index) => (part.startsWith(':') ? sent[index] || part : part))
      .join('/');
}

function parametersIn(url: string): number {
  return url.split('/').filter((part) => part.startsWith(':')).length;
}

/** Pattern of the paths of a route. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${parts.join('/')}$`);
}
