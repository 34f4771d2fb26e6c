// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const documents = ['/openapi.json', '/docs', '/docs/errors', '/docs/style.css'];

test.each(documents)('%s is compressed for clients that accept it, with a tag of its own', async (url) => {
  const ask = (encoding?: string, more = {}) =>
    world.api.app.inject({
      method: 'GET',
      url,
      headers: { ...(encoding === undefined ? {} : { 'accept-encoding': encoding }), ...more },
    });
  const plain = await ask();
  expect(plain.headers).not.toHaveProperty('content-encoding');
  for (const encoding of ['gzip', 'gzip, deflate, br, zstd', 'br;q=1.0, gzip;q=0.5', 'GZIP', '*']) {
    const answer = await ask(encoding);
    expect(answer.headers, encoding).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': plain.headers['content-type'],
      'content-length': String(answer.rawPayload.length),
    });
    expect(gunzipSync(answer.rawPayload).equals(plain.rawPayload), encoding).toBe(true);
    expect(answer.headers['etag']).not.toBe(plain.headers['etag']);
    const tag = String(answer.headers['etag']);
    const known = await ask(encoding, { 'if-none-match': tag });
    expect([known.statusCode, known.rawPayload.length, known.headers['etag']]).toEqual([304, 0, tag]);
    expect(known.headers).not.toHaveProperty('content-encoding');
    expect(known.headers['vary']).toContain('Accept-Encoding');
  }
  for (const encoding of ['', 'br', 'gzip;q=0', 'gzip; q=0.000, identity', 'x-gzipped', '*;q=0', 'gzip;q=0, *'])
    expect((await ask(encoding)).headers, encoding).not.toHaveProperty('content-encoding');
  for (const answer of [plain, await ask('gzip'), await ask('gzip', { origin: 'https://console.example.com' })])
    expect(answer.headers['vary']).toContain('Accept-Encoding');
});

test('answers with secrets, or with what the request says, are never compressed', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const accepting = { 'accept-encoding': 'gzip, deflate, br, zstd' };
  const title = 'a'.repeat(2_000);
  const { body } = await client.post('/v1/tasks', { title: title.slice(0, 200), details: title });
  const answers = [
    await client.get(`/v1/tasks/${body.id}`, accepting),
    await client.get('/v1/tasks', accepting),
    await client.get('/graphql?query={self{id}}', accepting),
    await client.get('/graphql', { ...accepting, accept: 'text/html' }),
    await client.post('/graphql', { query: '{ tasks { nodes { title } } }' }, accepting),
    await client.get('/v1/verify', accepting),
    await client.get(`/nowhere/${title}`, accepting),
    await client.get('/livez', accepting),
  ];
  for (const { url, headers } of answers) expect(headers, url).not.toHaveProperty('content-encoding');
});

test('a compressed body of a request is refused unread, however small it is', async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000, 0x20));
  const client = await signedIn(world, await buildPerson(world));
  for (const encoding of ['gzip', 'deflate', 'br']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    for (const url of ['/v1/tasks', '/graphql']) {
      const answer = await client.mutate({ method: 'POST', url, headers, payload: bomb });
      expect([400, 415], `${url}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    }
  }
});
