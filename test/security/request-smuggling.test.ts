// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { parseAnswer, RawConnection } from '../kit/http/raw-http.ts';
import { hidden, smugglingCases } from '../kit/http/smuggling-cases.ts';
import { openWorld, type World } from '../kit/world.ts';

// What one reader of HTTP takes for a body, another one could take for the next request.

let world: World;
let url: string;
/** How often the hidden request was answered. */
let found = 0;

const hiddenRoute = defineRoute({
  method: 'GET',
  url: '/test/hidden',
  operationId: 'hiddenRoute',
  tag: 'Test',
  summary: 'Hidden',
  description: 'Hidden.',
  access: 'anonymous',
  answers: { 200: Type.Null() },
  errors: [],
  handle: () => {
    found++;
    return { status: 200, body: null };
  },
});

/** Reads its body, whatever it is, and needs no token to do so. */
const bodyRoute = defineRoute({
  method: 'POST',
  url: '/test/body',
  operationId: 'bodyRoute',
  tag: 'Test',
  summary: 'Body',
  description: 'Body.',
  access: 'public',
  verifiesSignature: true,
  rawBodyLimit: 10_000,
  answers: { 200: Type.Null() },
  errors: [],
  handle: () => ({ status: 200, body: null }),
});

beforeAll(async () => {
  world = await openWorld({ routes: [hiddenRoute, bodyRoute] });
  ({ url } = await world.listen());
});
afterAll(() => world.close());

/** All that comes back when these bytes are sent, and then that no more come. */
async function answersTo(bytes: string): Promise<string> {
  const connection = new RawConnection(url);
  connection.write(bytes);
  connection.finish();
  return connection.untilClosed(20_000);
}

test.each(smugglingCases)('$name ($source)', async ({ bytes, expected }) => {
  found = 0;
  const text = await answersTo(bytes);
  const answer = parseAnswer(text);
  expect(text.match(/HTTP\/1\.1 \d/g), text).toHaveLength(1);
  expect(found).toBe(0);
  if (expected === 'one') return expect(answer.status, text).toBe(200);
  expect(answer.status, text).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'malformed_request' });
  expect(answer.headers['connection']).toBe('close');
});

test('the hidden request is answered where it is none', async () => {
  expect(parseAnswer(await answersTo(hidden)).status).toBe(200);
  expect(found).toBe(1);
});

test('none of this was a failure of the server', () => {
  expect(world.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
});
