import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/problem.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-41: nothing that a foreign page can make a browser send changes anything through GraphQL.

let world: World;
let victim: TestClient;

beforeAll(async () => {
  world = await openWorld();
  victim = await signedIn(world, await buildPerson(world));
});
afterAll(async () => {
  expect(await asOwner(world, `select name from organizations where name like 'forged%'`)).toEqual([]);
  await world.close();
});

const query = 'mutation { createOrganization(input: { name: "forged" }) { organization { id } } }';
const foreign = { origin: 'https://evil.example.net', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };

test('a link, an image, a form with method GET', async () => {
  for (const accept of ['*/*', 'text/html,application/xhtml+xml', 'image/avif,image/webp', 'application/json'])
    await victim.get(`/graphql?${new URLSearchParams({ query })}`, { ...foreign, accept });
});

test.each([
  ['text/plain', JSON.stringify({ query })],
  ['text/plain;charset=utf-8', JSON.stringify({ query })],
  ['application/x-www-form-urlencoded', new URLSearchParams({ query }).toString()],
  [
    'multipart/form-data; boundary=x',
    `--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n${query}\r\n--x--\r\n`,
  ],
  [
    'multipart/form-data; boundary=x',
    `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query })}\r\n--x--\r\n`,
  ],
  ['application/graphql', query],
  ['', JSON.stringify({ query })],
])('a form of type "%s"', async (type, payload) => {
  const headers = { ...foreign, ...(type ? { 'content-type': type } : {}) };
  // As a form sends it: cookies come along, the header does not.
  expectProblem(await victim.request({ method: 'POST', url: '/graphql', headers, payload }), 'csrf_token_missing');
  // And with the header it is still no JSON.
  const answer = await victim.mutate({ method: 'POST', url: '/graphql', headers, payload });
  expectProblem(answer, 'unsupported_media_type');
});

test('a form that names another method', async () => {
  for (const [name, value] of [
    ['x-http-method-override', 'POST'],
    ['x-http-method', 'POST'],
    ['x-method-override', 'POST'],
  ] as const)
    await victim.get(`/graphql?${new URLSearchParams({ query, _method: 'POST' })}`, { ...foreign, [name]: value });
});

test('no answer lets a foreign page read it', async () => {
  for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
    const { headers } = await victim.request({
      method,
      url: '/graphql?query={self{id}}',
      headers: {
        ...foreign,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-csrf-token',
      },
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});
