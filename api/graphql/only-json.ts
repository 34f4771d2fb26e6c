import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from './graphql-context.ts';

const json = new Set(['application/graphql-response+json', 'application/json', 'application/*', '*/*']);

/**
 * Rejects requests that do not accept JSON before anything is executed. Yoga checks this only after a mutation has been committed,
 * and answers with a stream where the client accepts one.
 */
export function onlyJson(): Plugin<GraphqlContext> {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      if (!acceptsJson(request.headers.get('accept') || '*/*'))
        endResponse(new fetchAPI.Response(null, { status: 406 }));
    },
  };
}

/** RFC 9110, section 12.5.1, as strictly as Yoga reads it, so that it answers accepted requests with JSON. */
function acceptsJson(accept: string): boolean {
  const ranges = accept.replaceAll(/\s/g, '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [type = '', ...parameters] = range.split(';');
    return json.has(type) && !parameters.some(isRefusal);
  });
}

/** `q=0`, or a charset other than UTF-8. */
function isRefusal(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/.test(parameter) || (parameter.includes('charset=') && parameter !== 'charset=utf-8');
}
