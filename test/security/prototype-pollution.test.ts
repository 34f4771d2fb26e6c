import { afterAll, beforeAll, expect, test } from 'vitest';
import { routesOf } from '#api/rest/routes.ts';
import { receivers } from '#api/rest/webhooks/receivers.ts';
import { registry } from '#entities/index.ts';
import { forgedToken } from '../kit/identity/access-tokens.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { isScimPath } from '../kit/http/is-scim-path.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-121: no input reaches a prototype.

let world: World;
let person: Person;
let client: TestClient;

const prototypes = {
  Object,
  Array,
  Function,
  String,
  Number,
  Boolean,
  Map,
  Set,
  Promise,
  Error,
  Date,
  RegExp,
  Uint8Array,
};
/** Every member of every prototype, by name and value. */
const members = () =>
  Object.entries(prototypes).flatMap(([kind, { prototype }]) =>
    Reflect.ownKeys(prototype).map((key) => {
      return {
        name: `${kind}.${String(key)}`,
        parts: Object.values(Object.getOwnPropertyDescriptor(prototype, key) ?? {}),
      };
    }),
  );
const before = members();

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(async () => {
  const after = members();
  expect(after.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
  const changed = after.filter(({ parts }, at) => parts.some((part, n) => !Object.is(part, before[at]?.parts[n])));
  expect(changed).toEqual([]);
  expect(({} as { isPolluted?: boolean }).isPolluted).toBeUndefined();
  const failures = world.logs.filter((line) => line['level'] === 'error' && 'request_id' in line);
  expect(failures).toEqual([]);
  await world.close();
});

const poisons = [
  '"__proto__": {"isPolluted": true}',
  String.raw`"\u005f\u005fproto__": {"isPolluted": true}`,
  '"constructor": {"prototype": {"isPolluted": true}}',
  '"a": {"b": [{"__proto__": {"isPolluted": true}}]}',
  '"__proto__": null',
  '"__proto__": []',
];

test('T-121: bodies of all routes change no prototype', async () => {
  const paths = world.api.app.swagger().paths as Record<string, { post?: unknown }>;
  // Forms and bytes are no JSON, and receivers read a body only when its sender has signed it.
  const others = new Set([
    ...routesOf(registry).flatMap(({ url, receives }) => (receives ? [url] : [])),
    ...receivers.map(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}')),
  ]);
  const addresses = [...Object.keys(paths).filter((path) => paths[path]?.post && !others.has(path)), '/graphql'];
  for (const url of addresses) {
    for (const poison of poisons) {
      const headers = { 'content-type': 'application/json', 'tus-resumable': '1.0.0' };
      const answer = await client.mutate({ method: 'POST', url, headers, payload: `{${poison}}` });
      if (isScimPath(url)) expect(answer.status, `${url} ${poison}`).toBe(400);
      else expectProblem(answer, 'malformed_body', `${url} ${poison}`);
    }
  }
});

test('T-121: variables of an operation change no prototype', async () => {
  const query = 'query ($first: Int) { organizations(first: $first) { edges { node { id } } } }';
  for (const poison of poisons) {
    const headers = { 'content-type': 'application/json' };
    const payload = `{"query": ${JSON.stringify(query)}, "variables": {${poison}}}`;
    expectProblem(await client.mutate({ method: 'POST', url: '/graphql', headers, payload }), 'malformed_body', poison);
    const parameters = new URLSearchParams({ query, variables: `{${poison}}` });
    expect((await client.get(`/graphql?${parameters}`)).status, poison).toBe(400);
  }
});

test('T-121: JSON in CSV cells and in documents is read as strictly as in bodies', async () => {
  const csv = (metadata: string) =>
    `name,content,metadata\npolluted,01J00000000000000000000000,"${metadata.replaceAll('"', '""')}"\n`;
  const document = (metadata: string) =>
    `mutation { createFile(input: { name: "polluted", content: "01J00000000000000000000000", metadata: ${metadata} }) { file { id } } }`;
  const importFiles = 'mutation ($csv: String!) { createBulkCSVFile(csv: $csv) { files { id } } }';
  const deep = '['.repeat(3_000) + ']'.repeat(3_000);
  const answers = [
    ...(await Promise.all(poisons.map((poison) => client.graphql(importFiles, { csv: csv(`{${poison}}`) })))),
    await client.graphql(importFiles, { csv: csv(deep) }),
    await client.graphql(importFiles, { csv: csv('"\\u0000"') }),
    await client.graphql(document('{ __proto__: { isPolluted: true } }')),
    await client.graphql(document('{ a: { constructor: { prototype: { isPolluted: true } } } }')),
  ];
  for (const { errors } of answers) {
    expect(errors[0].extensions.code, JSON.stringify(errors)).toBe('invalid_input');
    expect(errors[0].extensions.errors[0].message).toMatch(
      /is not accepted: (?:the name "[a-z_]+" is not allowed here|it is nested deeper than 64 levels|it contains a NUL)/,
    );
  }
  expect(await asOwner(world, `select 1 from files where name = 'polluted'`)).toEqual([]);
});

test('T-121: names of prototypes in a document are unknown fields', async () => {
  for (const input of [
    '{ name: "polluted", __proto__: { isPersonal: true } }',
    '{ name: "polluted", constructor: "x" }',
  ]) {
    const answer = await client.graphql(`mutation { createOrganization(input: ${input}) { organization { id } } }`);
    expect(answer.errors, input).toHaveLength(1);
  }
  const aliased = await client.graphql('{ __proto__: self { isPolluted: id } }');
  expect(JSON.stringify(aliased.body)).toContain(person.user.id);
  expect(await asOwner(world, `select 1 from organizations where name = 'polluted'`)).toEqual([]);
});

test('T-121: query strings, cookies and headers change no prototype', async () => {
  for (const name of [
    '__proto__',
    'constructor.prototype',
    '__proto__[isPolluted]',
    'constructor[prototype][isPolluted]',
  ]) {
    expect((await client.get(`/livez?${encodeURIComponent(name)}=true`)).status).toBe(200);
    expect(
      (await client.get('/livez', { cookie: `${name}=true`, [name.replaceAll(/[[\].]/g, '')]: 'true' })).status,
    ).toBe(200);
  }
});

test('T-121: claims and headers of a validly signed token change no prototype', async () => {
  const poison = JSON.parse(
    '{"__proto__": {"isPolluted": true}, "constructor": {"prototype": {"isPolluted": true}}}',
  ) as object;
  const bearer = world.client();
  bearer.bearer = await forgedToken(world, person, { claims: { ...poison, extra: poison } });
  expect((await bearer.graphql('{ self { id } }')).status).toBeLessThan(500);
  bearer.bearer = await forgedToken(world, person, { header: { ...poison } });
  expect((await bearer.graphql('{ self { id } }')).status).toBeLessThan(500);
});

test('T-121: the configuration changes no prototype', async () => {
  const report = await world.reconfigure({
    CORE_AUTH_TOKEN_KEYS: '{"__proto__": {"isPolluted": true}}',
    CORE___PROTO___ISPOLLUTED: 'true',
  });
  expect(JSON.stringify(report)).toContain('__proto__');
  await world.reconfigure({ CORE_AUTH_TOKEN_KEYS: undefined, CORE___PROTO___ISPOLLUTED: undefined });
  expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
});
