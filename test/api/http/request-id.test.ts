// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { exchange } from '../../kit/http/raw-http.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const linesOf = (id: string) => world.logs.filter((line) => line['request_id'] === id);

describe('an id that the client chose', () => {
  test('is the one of answer, log line, rows, history and events', async () => {
    const id = `client.chosen_${newId()}-1`;
    const answer = await world
      .client()
      .post('/v1/register', { email: 'chosen@example.com', password: 'correct horse battery' }, { 'x-request-id': id });
    expect(answer.headers['x-request-id']).toBe(id);
    expect(linesOf(id)).toMatchObject([{ msg: 'request', route: '/v1/register', status: 202 }]);
    for (const table of ['events', 'history']) {
      const rows = await asOwner(world, `select 1 from ${table} where request_id = $1`, [id]);
      expect(rows.length, table).toBeGreaterThan(0);
    }
  });

  test('is the one of refusals, over REST and GraphQL', async () => {
    const id = `refused-${newId()}`;
    const client = await signedIn(world, await buildPerson(world));
    const refused = await client.post('/v1/verify', { token: 'x', password: 'x' }, { 'x-request-id': id });
    expect(refused.body).toMatchObject({ request_id: id, instance: `urn:request:${id}` });
    for (const query of ['{', '{ nope }', '{ user(id: "x") { id } }', 'query ($id: ID!) { user(id: $id) { id } }']) {
      const answer = await client.post('/graphql', { query }, { 'x-request-id': id });
      expect(answer.headers['x-request-id']).toBe(id);
      expectGraphqlError(answer, query.includes('"x"') ? 'not_found' : 'invalid_input', query);
    }
  });

  test.each([
    ['empty', ''],
    ['of 65 characters', 'x'.repeat(65)],
    ['with a space', 'a b'],
    ['with a line break in disguise', 'a%0d%0aset-cookie:b'],
    ['with markup', '<script>alert(1)</script>'],
    ['with a quote', "a'--"],
    ['with a path', '../../etc/passwd'],
    ['with other letters', 'caf\u00e9'],
    ['with a comma, as two headers of that name become one', 'a, b'],
  ])('%s is not taken over: the request gets one of ours', async (_about, given) => {
    const { headers } = await world.client().get('/livez', { 'x-request-id': given });
    expect(headers['x-request-id']).toSatisfy(isId);
  });
});

test('every answer has one of its own, whatever became of the request', async () => {
  const client = world.client();
  const answers = await Promise.all([
    client.get('/livez'),
    client.get('/livez'),
    client.get('/nowhere'),
    client.get('/%zz'),
    client.get('/graphql'),
    client.request({ method: 'DELETE', url: '/livez' }),
    client.request({ method: 'POST', url: '/v1/login' }),
    client.request({ method: 'HEAD', url: '/livez' }),
  ]);
  const ids = answers.map(({ headers }) => headers['x-request-id']);
  expect(new Set(ids).size).toBe(answers.length);
  for (const id of ids) expect(id).toSatisfy(isId);
  const { url } = await world.listen();
  const broken = await exchange(url, 'this is not HTTP\r\n\r\n');
  const id = broken.headers['x-request-id'] ?? '';
  expect(id).toSatisfy(isId);
  expect(linesOf(id)).toHaveLength(1);
});
