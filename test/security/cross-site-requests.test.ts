import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
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

test('T-41: a link, an image or a form with method GET changes nothing', async () => {
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
])('T-41: a form of type "%s" changes nothing', async (type, payload) => {
  const headers = { ...foreign, ...(type ? { 'content-type': type } : {}) };
  // As a form sends it: cookies come along, the header does not.
  expectProblem(await victim.request({ method: 'POST', url: '/graphql', headers, payload }), 'csrf_token_missing');
  // And with the header it is still no JSON.
  const answer = await victim.mutate({ method: 'POST', url: '/graphql', headers, payload });
  expectProblem(answer, 'unsupported_media_type');
});

test('T-41: a form with a method override changes nothing', async () => {
  for (const [name, value] of [
    ['x-http-method-override', 'POST'],
    ['x-http-method', 'POST'],
    ['x-method-override', 'POST'],
  ] as const)
    await victim.get(`/graphql?${new URLSearchParams({ query, _method: 'POST' })}`, { ...foreign, [name]: value });
});

test('T-41: no answer allows a foreign origin to read it', async () => {
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
