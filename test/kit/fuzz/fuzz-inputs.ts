import {
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  type GraphQLField,
  type GraphQLInputType,
} from 'graphql';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import type { TestClient } from '../test-client.ts';

/** A request that brings words to a place where nobody asked for them. */
export interface Offer {
  /** Address of REST, or operation of GraphQL. */
  readonly at: string;
  readonly place: string;
  /** The words are made when it is sent. */
  readonly send: () => Promise<unknown>;
}

/**
 * Requests that bring words to every address of REST, in all places of a request that nobody asked for them in, and to every argument of
 * every GraphQL operation. Signed-in callers stay signed in.
 * @param word makes a new word for a place of a request
 */
export async function inputOffers(client: TestClient, word: (place: string) => string): Promise<Offer[]> {
  const { body: document } = await client.get('/openapi.json');
  const schema = productSchema();
  const roots = { query: schema.getQueryType(), mutation: schema.getMutationType() };
  return [
    ...Object.entries(document.paths as Record<string, object>)
      .filter(([path]) => path !== '/v1/logout')
      .flatMap(([path, operations]) =>
        Object.keys(operations).flatMap((method) => offersAt(client, method.toUpperCase(), path, word)),
      ),
    ...Object.entries(roots).flatMap(([kind, type]) =>
      Object.values(type?.getFields() ?? {}).flatMap((field) => operationOffers(client, kind, field, word)),
    ),
  ];
}

function offersAt(client: TestClient, method: string, path: string, word: (place: string) => string): Offer[] {
  const at = `${method} ${path}`;
  const one = (place: string) => word(`${at}, ${place}`);
  const url = () => path.replaceAll(/\{[^}]+\}/g, () => one('path'));
  const requests: Readonly<Record<string, () => object>> = {
    'API key': () => ({ headers: { 'x-api-key': one('key') } }),
    'CSRF token': () => ({ headers: { 'x-csrf-token': one('CSRF token') } }),
    'bearer token': () => ({ headers: { authorization: `Bearer ${one('bearer token')}` } }),
    'basic credentials': () => ({ headers: { authorization: `Basic ${one('basic credentials')}` } }),
    cookie: () => ({ headers: { cookie: `access_token=${one('cookie')}` } }),
    query: () => ({ url: `${url()}?access_token=${one('query')}` }),
    ...(method === 'POST' || method === 'PATCH'
      ? { body: () => ({ payload: { password: one('password'), token: one('token'), secret: [one('list')] } }) }
      : {}),
  };
  return Object.entries(requests).map(([place, request]) => ({
    at,
    place,
    send: () => client.mutate({ url: url(), ...request(), method }),
  }));
}

function operationOffers(
  client: TestClient,
  kind: string,
  { name, args, type }: GraphQLField<unknown, unknown>,
  word: (place: string) => string,
): Offer[] {
  const at = `${kind} ${name}`;
  const one = (place: string) => word(`${at}, ${place}`);
  const selection = isCompositeType(getNamedType(type)) ? '{ __typename }' : '';
  const unknown: Offer = {
    at,
    place: 'unknown argument',
    send: () => client.graphql(`${kind} { ${name}(password: "${one('unknown argument')}") ${selection} }`),
  };
  if (args.length === 0) return [unknown];
  const variables = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const document = `${kind} (${variables}) { ${name}(${passed}) ${selection} }`;
  const valuesOf = (given: typeof args) =>
    Object.fromEntries(given.map((arg) => [arg.name, valueOf(arg.type, () => one(arg.name))]));
  return [
    unknown,
    // All at once, and one by one: the first that is refused hides the others.
    { at, place: 'all arguments', send: () => client.graphql(document, valuesOf(args)) },
    ...args.map((arg) => ({
      at,
      place: `argument ${arg.name}`,
      send: () => client.graphql(document, valuesOf([arg])),
    })),
  ];
}

/** Something with a word in it, right or wrong. */
function valueOf(given: GraphQLInputType, word: () => string): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [valueOf(type.ofType, word)];
  return isInputObjectType(type) ? { password: word() } : word();
}
