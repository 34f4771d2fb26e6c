import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseDump } from '../kit/database-dump.ts';
import { sampleOf } from '../kit/depth.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-42: no GET changes anything.

let world: World;
let clients: Record<string, TestClient>;
let addresses: string[];

beforeAll(async () => {
  world = await openWorld();
  const person = await buildPerson(world);
  const cookie = await signedIn(world, person);
  const bearer = world.client();
  bearer.bearer = (await signedIn(world, person)).cookies.get('access_token');
  const revoked = world.client();
  const other = await signedIn(world, person);
  revoked.bearer = other.cookies.get('access_token');
  await other.post('/v1/logout');
  clients = { anonymous: world.client(), cookie, bearer, revoked };

  await cookie.post('/v1/register', { email: 'waiting@example.com', password: 'correct horse battery' });
  const token = await verificationToken(world, 'waiting@example.com');
  const mutation = encodeURIComponent(
    'mutation { createOrganization(input: { name: "by GET" }) { organization { id } } }',
  );
  addresses = [
    ...Object.keys(world.api.app.swagger().paths ?? {}),
    `/v1/verify?token=${token}`,
    `/v1/verify/${token}`,
    `/v1/login?username=${person.user.email}&password=x`,
    '/v1/logout?_method=POST',
    '/graphql',
    `/graphql?query=${mutation}`,
    `/graphql?query=${encodeURIComponent('{ self { id } organizations { edges { node { id } } } }')}`,
    '/nowhere',
  ];
  expect(addresses.length).toBeGreaterThan(15);
});
afterAll(() => world.close());

/** What background work writes meanwhile: how far it has come with events and tuples that were there before. */
const progress = new Set(['batch_id', 'claimed_at', 'settled_at', 'applied_version', 'confirm_at']);

async function content(): Promise<Record<string, object[]>> {
  const dump = await databaseDump(world);
  return Object.fromEntries(
    [...dump].map(([table, rows]) => [
      table,
      rows.map((row) =>
        Object.fromEntries(Object.entries(JSON.parse(row) as object).filter(([column]) => !progress.has(column))),
      ),
    ]),
  );
}

test('T-42: GET, HEAD and OPTIONS of every address by every caller change nothing', async () => {
  const before = await content();
  expect(before['public.users']).toHaveLength(1);
  expect(before['public.email_verifications']).not.toHaveLength(0);
  const all = (['GET', 'HEAD', 'OPTIONS'] as const).flatMap((method) =>
    Object.entries(clients).flatMap(([who, client]) => addresses.map((url) => ({ method, who, client, url }))),
  );
  const tried = sampleOf('safe methods', all, {
    by: [({ method, url }) => `${method} ${url}`, ({ method, who }) => `${method} ${who}`],
  });
  for (const { method, who, client, url } of tried) {
    const answer = await client.request({ method, url, headers: { 'x-http-method-override': 'POST' } });
    expect(answer.status, `${method} ${url} by ${who}`).toBeLessThan(500);
  }
  recordTried('safe requests', tried.length, all.length);
  expect(await content()).toEqual(before);
});
