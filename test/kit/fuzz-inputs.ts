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
import type { TestClient } from './test-client.ts';

/**
 * Brings words to every address of REST, in all places of a request that nobody asked for them in, and to every argument of
 * every GraphQL operation. Whoever is signed in stays it.
 * @param word makes a new one; it is told where it goes
 */
export async function fuzzInputs(client: TestClient, word: (place: string) => string): Promise<void> {
  const { body: document } = await client.get('/openapi.json');
  for (const [path, operations] of Object.entries(document.paths as Record<string, object>))
    for (const method of Object.keys(operations)) {
      const at = `${method.toUpperCase()} ${path}`;
      if (path !== '/v1/logout') await offerAt(client, method.toUpperCase(), path, (place) => word(`${at}, ${place}`));
    }
  const schema = productSchema();
  for (const [kind, type] of [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const)
    for (const field of Object.values(type?.getFields() ?? {}))
      await offerOperation(client, kind, field, (place) => word(`${kind} ${field.name}, ${place}`));
}

async function offerAt(
  client: TestClient,
  method: string,
  path: string,
  word: (place: string) => string,
): Promise<void> {
  const url = () => path.replaceAll(/\{[^}]+\}/g, () => word('path'));
  const hasBody = method === 'POST' || method === 'PATCH';
  for (const request of [
    { headers: { 'x-api-key': word('key') } },
    { headers: { 'x-csrf-token': word('CSRF token') } },
    { headers: { authorization: `Bearer ${word('bearer token')}` } },
    { headers: { authorization: `Basic ${word('basic credentials')}` } },
    { headers: { cookie: `access_token=${word('cookie')}` } },
    { url: `${url()}?access_token=${word('query')}` },
    ...(hasBody ? [{ payload: { password: word('password'), token: word('token'), secret: [word('list')] } }] : []),
  ])
    await client.mutate({ url: url(), ...request, method });
}

async function offerOperation(
  client: TestClient,
  kind: string,
  { name, args, type }: GraphQLField<unknown, unknown>,
  word: (place: string) => string,
): Promise<void> {
  const selection = isCompositeType(getNamedType(type)) ? '{ __typename }' : '';
  await client.graphql(`${kind} { ${name}(password: "${word('unknown argument')}") ${selection} }`);
  if (args.length === 0) return;
  const variables = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  const document = `${kind} (${variables}) { ${name}(${passed}) ${selection} }`;
  // All at once, and one by one: the first that is refused hides the others.
  const values = args.map((arg): [string, unknown] => [arg.name, valueOf(arg.type, () => word(arg.name))]);
  await client.graphql(document, Object.fromEntries(values));
  for (const [arg, value] of values) await client.graphql(document, { [arg]: value });
}

/** Something with a word in it, right or wrong. */
function valueOf(given: GraphQLInputType, word: () => string): unknown {
  const type = getNullableType(given);
  if (isListType(type)) return [valueOf(type.ofType, word)];
  return isInputObjectType(type) ? { password: word() } : word();
}
