import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { parametersOf } from '#api/actions/kit/define-action.ts';
import { actions } from '#api/actions/kit/found-actions.ts';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly patternProperties?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly description?: string;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
}

/** Paths of a schema at which the given thing is wrong. */
function offences(schema: Schema, isWrong: (schema: Schema) => boolean, path = ''): string[] {
  const inner = [
    ...Object.entries(schema.properties ?? {}),
    ...(schema.items ? [['[]', schema.items] as const] : []),
    ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].map((each, index) => [`(${index})`, each] as const),
  ];
  return [
    ...(isWrong(schema) ? [path || '/'] : []),
    ...inner.flatMap(([name, each]) => offences(each, isWrong, `${path}/${name}`)),
  ];
}

/** Whether values of this type pass. */
const takes = ({ type }: Schema, wanted: string) => [type].flat().includes(wanted);

const routes = routesOf(registry);

const inputs = routes.flatMap(({ method, url, body, query, params }) =>
  Object.entries({ body, query, parameters: params }).flatMap(([part, schema]) =>
    schema ? [[`${part} of ${method} ${url}`, schema as Schema, part] as const] : [],
  ),
);

test('the routes have schemas to look at', () => {
  expect(inputs.length).toBeGreaterThanOrEqual(4);
});

/**
 * Providers may add parameters, which must be ignored (RFC 6749, section 4.1.2), and so may probes. Identity providers add some to the
 * address of a SCIM service that turn on variants of their own.
 */
const openEnded =
  /^query of (?:GET \/(?:readyz?|v1\/(?:\w+|integrations\/auth)\/callback)|\w+ \/v1\/integrations\/scim\/.*)$/;

test.each(inputs)('the %s refuses unknown keys at every depth', (name, schema, part) => {
  // Values of the caller's own making (JSON) have any keys.
  const isOpen = (each: Schema) =>
    takes(each, 'object') && each.additionalProperties !== false && each.patternProperties === undefined;
  // The address says which parameters there are.
  if (part !== 'parameters' && !openEnded.test(name)) expect(offences(schema, isOpen)).toEqual([]);
});

test.each(inputs)('every text and list in the %s has a limit', (_name, schema) => {
  const isUnbounded = (each: Schema) =>
    (takes(each, 'string') && each.maxLength === undefined && each.pattern === undefined && each.enum === undefined) ||
    (takes(each, 'array') && each.maxItems === undefined);
  expect(offences(schema, isUnbounded)).toEqual([]);
});

/** The handlers of actions: their routes only call them. */
const runs = new Map(
  actions.map(({ definition }) => [definition.operationId ?? definition.name, definition.run.toString()]),
);

test('no route reads a query or a path parameter without a schema, nor does the action of a route', () => {
  expect(routes.filter(({ operationId }) => runs.has(operationId))).toHaveLength(actions.length);
  const open = routes.filter(({ operationId, url, handle, params, query }) => {
    const text = runs.get(operationId) ?? handle.toString();
    const isKnown = parametersOf(url).every((name) => Object.hasOwn(params?.properties ?? {}, name));
    return !isKnown || (!params && /\bparams\b/.test(text)) || (!query && /\bquery\b/.test(text));
  });
  expect(open.map(({ url }: Pick<RouteOptions, 'url'>) => url)).toEqual([]);
});
