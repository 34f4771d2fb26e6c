import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from './graphql-context.ts';

const json = new Set(['application/graphql-response+json', 'application/json', 'application/*', '*/*']);

/**
 * Refuses whoever takes no JSON before anything is executed. The protocol layer would look at that when a mutation is committed,
 * and answer with a stream of its own to those who take one.
 */
export function onlyJson(): Plugin<GraphqlContext> {
  return {
    onRequestParse({ request, endResponse, fetchAPI }) {
      if (!takesJson(request.headers.get('accept') || '*/*')) endResponse(new fetchAPI.Response(null, { status: 406 }));
    },
  };
}

/** RFC 9110, section 12.5.1, as strictly as the protocol layer reads it: what passes here, it answers with JSON. */
function takesJson(accept: string): boolean {
  const ranges = accept.replaceAll(/\s/g, '').toLowerCase().split(',');
  return ranges.some((range) => {
    const [type = '', ...parameters] = range.split(';');
    return json.has(type) && !parameters.some(isRefusal);
  });
}

/** `q=0`, or characters that are not UTF-8. */
function isRefusal(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/.test(parameter) || (parameter.includes('charset=') && parameter !== 'charset=utf-8');
}
