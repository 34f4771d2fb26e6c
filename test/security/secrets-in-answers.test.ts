import { getNamedType, isInterfaceType, isNonNullType, isObjectType, type GraphQLOutputType } from 'graphql';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { defineRoute } from '#api/http/route.ts';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { secretInAnswer, secretInLog } from '../kit/fuzz/leaked-secret.ts';
import { testPassword } from '../kit/people.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-05: no answer contains a stored secret: neither to strangers nor to the person it belongs to.

let world: World;
const answers: TestAnswer[] = [];

/** Answers with a secret. */
const echo = defineRoute({
  method: 'GET',
  url: '/v1/echo',
  operationId: 'echo',
  tag: 'Test',
  summary: 'Tell a secret',
  description: 'Answers with the password of people.',
  access: 'anonymous',
  answers: { 200: Type.Object({ text: Type.String() }) },
  errors: [],
  handle: () => ({ status: 200, body: { text: testPassword } }),
});

beforeAll(async () => {
  world = await openWorld({ routes: [echo], environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

async function ask(client: TestClient, ...[url, body]: Parameters<TestClient['post']>): Promise<TestAnswer> {
  const answer = body === undefined ? await client.get(url) : await client.post(url, body);
  answers.push(answer);
  return answer;
}

/** A selection of every field there is below a type, so many objects deep. */
function everything(type: GraphQLOutputType, levels = 2): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) return '{ id }';
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).filter(
    (field) => levels > 0 || !isObjectType(getNamedType(field.type)),
  );
  return `{ ${fields.map((field) => `${field.name} ${everything(field.type, levels - 1)}`).join(' ')} }`;
}

/** Fields that an operation may select by default (`server.complexitylimit`). */
const maxFields = 100;

/** Selections that together have everything below a type; what relates to many kinds is more than one operation may ask for. */
function selectionsOf(type: GraphQLOutputType): string[] {
  const whole = everything(type);
  const named = getNamedType(type);
  if (!isObjectType(named) || whole.split(/\s+/).length < maxFields) return [whole];
  const fields = Object.values(named.getFields());
  const related = fields.filter((field) => isObjectType(getNamedType(field.type)));
  const values = fields.filter((field) => !related.includes(field)).map(({ name }) => name);
  return [
    ...(values.length > 0 ? [`{ ${values.join(' ')} }`] : []),
    ...related.map((field) => `{ ${field.name} ${everything(field.type, 1)} }`),
  ];
}

/** What fields are asked for that want to be told. */
const argument: Readonly<Record<string, string>> = { query: 'query: "answers@example.com"', ids: 'ids: []' };

test('T-05: no answer of sign-up, sign-in or any GraphQL field contains a stored secret', async () => {
  const email = 'answers@example.com';
  const client = world.client();
  await ask(client, '/v1/register', { email, password: testPassword });
  const token = await verificationToken(world, email);
  await ask(client, '/v1/verify', { token: `${token}x`, password: testPassword });
  await ask(client, '/v1/verify', { token, password: 'wrong horse battery' });
  await ask(client, '/v1/verify', { token, password: testPassword });
  await ask(client, '/v1/register', { email, password: testPassword });
  await ask(client, '/v1/resend', { email });
  await ask(client, '/v1/login', { username: email, password: 'wrong' });
  expect((await ask(client, '/v1/login', { username: email, password: testPassword })).status).toBe(200);

  const fields = productSchema().getQueryType()?.getFields() ?? {};
  // Fields about one record need its id.
  const lists = Object.values(fields).filter(({ args }) => !args.some(({ name }) => /^id$|Id$/.test(name)));
  expect(lists.length).toBeGreaterThan(registry.modules.filter(({ expose }) => Object.keys(expose).length > 0).length);
  for (const field of lists) {
    const needed = field.args.filter(({ type }) => isNonNullType(type)).map(({ name }) => argument[name] ?? '');
    const given = needed.length > 0 ? `(${needed.join(', ')})` : '';
    for (const selection of selectionsOf(field.type)) {
      const answer = await ask(client, '/graphql', { query: `{ ${field.name} ${given} ${selection} }` });
      const refusals = (answer.body.errors ?? []).filter(
        // Billing is off here; test/api/billing has its answers.
        ({ extensions }: { extensions?: { code?: string } }) => extensions?.code !== 'billing_disabled',
      );
      expect(refusals, `${field.name} ${selection}`).toEqual([]);
    }
  }
  expect(JSON.stringify(answers.map(({ body }) => body))).toContain(email);
  for (const url of Object.keys(world.api.app.swagger().paths ?? {})) if (url !== echo.url) await ask(client, url);

  const [stored] = await asOwner<{ hash: string }>(world, 'select password_hash as hash from users', []);
  const { sessions, totp } = world.config.current;
  const secrets = {
    hash: stored?.hash,
    salt: stored?.hash.split('$').at(-2),
    testPassword,
    token,
    key: sessions.signingkey,
    encryption: sessions.encryptionkey,
    totp: totp.secret,
  };
  for (const { headers, body } of answers) {
    const text = JSON.stringify({ headers, body });
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret).toMatch(/.{16}/);
      expect(text.includes(secret ?? ''), `${name} in ${text.slice(0, 200)}`).toBe(false);
    }
    expect(text).not.toMatch(/argon2|passwordHash|password_hash|PRIVATE KEY/);
  }
});

test('T-05, T-08: every test looks for secrets in what its clients get and its world logs', async () => {
  const client = world.client();
  expect((await client.get('/v1/nowhere?text=harmless')).status).toBe(404);
  await expect(client.get('/v1/echo')).rejects.toThrow('contains the secret');
  for (const secret of [
    testPassword,
    world.config.current.sessions.encryptionkey,
    '$argon2id$v=19$m=19456',
    '-----BEGIN PRIVATE KEY-----',
  ])
    expect([secretInAnswer(`"${secret}"`), secretInLog(`"${secret}"`)], secret).not.toContain(undefined);
  const { body } = await client.post('/v1/login', { username: 'answers@example.com', password: testPassword });
  for (const token of [body.access_token, `core_${newId()}_${'x'.repeat(43)}`, `pat_${newId()}_${'x'.repeat(43)}`])
    expect(secretInLog(`{"msg":"${token}"}`), token).toBeDefined();
});

test('T-05: no kind exposes a secret field, or filters, orders or searches by it', () => {
  const secrets = registry.modules.flatMap((module) =>
    Object.entries(module.fields)
      .filter(([, field]) => field.secret)
      .map(([name]) => ({ module, name })),
  );
  expect(secrets.length).toBeGreaterThan(0);
  for (const { module, name } of secrets) {
    // Sealed fields are written and never read.
    const exposed = Object.keys(module.expose).filter((one) => module.expose[one] !== 'write');
    const visible = [...exposed, ...module.filter, ...module.order, ...(module.search ?? [])];
    expect(visible, `${module.kind}.${name}`).not.toContain(name);
  }
});
