import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { routes } from '#api/rest/routes.ts';

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
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

const bodies = routes.flatMap(({ method, url, body }) => (body ? [[`${method} ${url}`, body as Schema] as const] : []));

test('there are bodies to look at', () => {
  expect(bodies.length).toBeGreaterThanOrEqual(4);
});

test.each(bodies)('the body of %s refuses unknown keys at every depth', (_name, body) => {
  const isOpen = (schema: Schema) => schema.type === 'object' && schema.additionalProperties !== false;
  expect(offences(body, isOpen)).toEqual([]);
});

test.each(bodies)('every text and list in the body of %s has a limit', (_name, body) => {
  const isUnbounded = (schema: Schema) =>
    (schema.type === 'string' && schema.maxLength === undefined && schema.pattern === undefined) ||
    (schema.type === 'array' && schema.maxItems === undefined);
  expect(offences(body, isUnbounded)).toEqual([]);
});

test('no route reads a query or a path parameter without a schema', () => {
  const open = routes.filter(({ url, handle }) => url.includes(':') || /\b(?:query|params)\b/.test(handle.toString()));
  expect(open.map(({ url }: Pick<RouteOptions, 'url'>) => url)).toEqual([]);
});
