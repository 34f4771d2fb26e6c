import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { parseAnswer, RawConnection } from '../../kit/http/raw-http.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const mebibyte = 1_048_576;

let world: World;
let other: Instance;
let urls: string[];
let person: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ worker: ['workflows', 'storage'] });
  other = await world.openInstance();
  urls = [(await world.listen()).url, (await other.listen()).url];
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const tus = { 'tus-resumable': '1.0.0' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

function begin(length: number, metadata = `filename ${base64('content.bin')}`, query = ''): Promise<TestAnswer> {
  const headers = { ...tus, 'upload-length': String(length), 'upload-metadata': metadata };
  return client.mutate({ method: 'POST', url: `/v1/uploads/resumable${query}`, headers });
}

function patch(location: string, offset: number, payload: Buffer, sender = client): Promise<TestAnswer> {
  const headers = { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
  return sender.mutate({ method: 'PATCH', url: location, payload, headers });
}

/** Bytes that the server has, as HEAD says. */
async function offsetOf(location: string): Promise<number> {
  const { headers } = await client.request({ method: 'HEAD', url: location });
  return Number(headers['upload-offset']);
}

/** Sends the beginning of a PATCH to one of the processes. */
function beginPatch(process: number, location: string, offset: number, payload: Buffer, length = payload.length) {
  const connection = new RawConnection(urls[process] ?? '');
  connection.write(
    `PATCH ${location} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.cookies.get('access_token')}\r\nConnection: close\r\n` +
      `Tus-Resumable: 1.0.0\r\nUpload-Offset: ${offset}\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: ${length}\r\n\r\n`,
  );
  connection.write(payload);
  return connection;
}

async function writerOf(location: string): Promise<string | null | undefined> {
  const id = location.split('/').at(-1);
  return (await asOwner<{ writer: string | null }>(world, 'select writer from uploads where id = $1', [id]))[0]?.writer;
}

const folder = () => join(inject('stack').folder, world.name, 'files');

async function keyOf(location: string): Promise<string> {
  const id = location.split('/').at(-1);
  const text = 'select o.key from uploads u join stored_objects o on o.id = u.object_id where u.id = $1';
  return (await asOwner<{ key: string }>(world, text, [id]))[0]?.key ?? '';
}

async function stored(location: string): Promise<Buffer> {
  return readFile(join(folder(), await keyOf(location)));
}

/** Waits for the outcome of the check; after it, nothing is left of what arrived but the object. */
async function untilChecked(location: string, status: 'ready' | 'refused'): Promise<TestAnswer> {
  await eventually(async () => (await client.get(location)).body.status === status);
  const key = await keyOf(location);
  await eventually(async () => {
    const left = (await readdir(folder(), { recursive: true })).filter((file) => file.startsWith(`${key}.`));
    return left.length === 0;
  });
  return client.get(location);
}

test('a file comes in pieces, cut anywhere, through any process', async () => {
  const content = randomBytes(10 * mebibyte + 17);
  const begun = await begin(content.length);
  expect(begun.status).toBe(201);
  const location = String(begun.headers['location']);
  expect(await offsetOf(location)).toBe(0);

  // Cut within the first part; then within the second, at the other process; then at a boundary.
  const cuts = [mebibyte + 1, 6 * mebibyte + 5, 8 * mebibyte];
  let offset = 0;
  for (const [index, cut] of cuts.entries()) {
    const connection = beginPatch(index % 2, location, offset, content.subarray(offset, cut), content.length - offset);
    connection.finish();
    await eventually(async () => (await offsetOf(location)) === cut);
    offset = cut;
  }
  const otherClient = other.client();
  otherClient.bearer = client.cookies.get('access_token');
  const last = await eventually(async () => {
    const answer = await patch(location, offset, content.subarray(offset), otherClient);
    // What arrived is known a moment before the request that brought it has given its turn back.
    return answer.body?.code === 'upload_busy' ? undefined : answer;
  });
  expect({ status: last.status, offset: last.headers['upload-offset'] }).toEqual({
    status: 204,
    offset: String(content.length),
  });
  // Also while it is checked: a client that lost the last answer must not send anything again.
  expect(await offsetOf(location)).toBe(content.length);
  await untilChecked(location, 'ready');
  expect((await stored(location)).equals(content)).toBe(true);
});

test('of two requests that write at once, one is refused', async () => {
  const content = randomBytes(2_000);
  const location = String((await begin(content.length)).headers['location']);
  const first = beginPatch(0, location, 0, content.subarray(0, 1_000), content.length);
  await eventually(async () => (await writerOf(location)) !== null);
  expectProblem(await patch(location, 0, content), 'upload_busy');
  expect(await offsetOf(location)).toBe(0);
  first.write(content.subarray(1_000));
  expect(parseAnswer(await first.untilClosed()).status).toBe(204);
  await untilChecked(location, 'ready');
  expect((await stored(location)).equals(content)).toBe(true);
  expectProblem(await patch(location, 2_000, Buffer.alloc(1)), 'upload_complete', 'all bytes are there');
});

test('a resumable upload is refused', async () => {
  expectProblem(await begin(0), 'invalid_input', 'empty');
  expectProblem(await begin(32 * mebibyte + 1), 'body_too_large', 'by length');
  expectProblem(await begin(10, `filename ${base64('a\0b')}`), 'invalid_input', 'name');
  expectProblem(await begin(10, 'filename notes.txt'), 'invalid_input', 'a name that is not base64');
  expectProblem(await begin(10, `filetype ${base64('text/plain')}`), 'invalid_input', 'no name');
  expectProblem(await begin(10, `filename ${base64('a')},sha256 ${base64('xyz')}`), 'invalid_input', 'hash');
  const location = String((await begin(10)).headers['location']);
  expectProblem(await patch(location, 5, Buffer.alloc(5)), 'stale_record', 'another offset');
  expectProblem(await patch(location, 0, Buffer.alloc(11)), 'body_too_large', 'too many bytes');
  const stranger = await signedIn(world, await buildPerson(world));
  expectProblem(await patch(location, 0, Buffer.alloc(10), stranger), 'not_found', 'a stranger');
  const colleague = await signedIn(world, await buildPerson(world, { organization: person.organization }));
  expectProblem(await colleague.get(location), 'not_found', 'a colleague');
  expectProblem(await patch('/v1/uploads/nothing', 0, Buffer.alloc(10)), 'not_found', 'no upload');
  expect((await client.mutate({ method: 'DELETE', url: location, headers: tus })).status).toBe(204);
  expectProblem(await patch(location, 0, Buffer.alloc(10)), 'not_found', 'given up');
  expectProblem(await client.get(location), 'not_found', 'given up');
});

test('the protocol: its version is in every answer, others are refused, and OPTIONS says what the server can do', async () => {
  const options = await world.client().request({ method: 'OPTIONS', url: '/v1/uploads/resumable' });
  expect({ status: options.status, headers: options.headers }).toMatchObject({
    status: 204,
    headers: {
      'tus-version': '1.0.0',
      'tus-extension': 'creation,expiration,termination',
      'tus-max-size': String(32 * mebibyte),
    },
  });
  const location = String((await begin(10)).headers['location']);
  const old = { 'tus-resumable': '0.2.2', 'upload-offset': '0', 'upload-length': '1' };
  for (const [method, url, headers] of [
    ['POST', '/v1/uploads/resumable', old],
    ['POST', '/v1/uploads/resumable', {}],
    ['PATCH', location, old],
    ['HEAD', location, old],
    ['DELETE', location, old],
  ] as const) {
    const answer = await client.mutate({ method, url, headers });
    expect(answer.status, `${method} ${url}`).toBe(412);
    expect(answer.headers).toMatchObject({ 'tus-version': '1.0.0', 'tus-resumable': '1.0.0' });
    if (method !== 'HEAD') expectProblem(answer, 'protocol_version_unsupported', `${method} ${url}`);
  }
  const headers = { ...tus, 'upload-offset': '0', 'content-type': 'text/plain' };
  const json = await client.mutate({ method: 'PATCH', url: location, payload: 'x', headers });
  expectProblem(json, 'unsupported_media_type');
  expect(json.body.detail).toContain('send the header "Content-Type: application/offset+octet-stream"');
  const head = await client.request({ method: 'HEAD', url: location, headers: tus });
  expect(head.headers).toMatchObject({
    'upload-offset': '0',
    'upload-length': '10',
    'upload-expires': expect.stringMatching(/GMT$/),
    'cache-control': 'no-store',
    'tus-resumable': '1.0.0',
  });
  const missing = await client.request({ method: 'HEAD', url: '/v1/uploads/nothing', headers: tus });
  expect(missing).toMatchObject({ status: 404, headers: { 'tus-resumable': '1.0.0' } });
  expect(missing.headers['upload-offset']).toBeUndefined();
  expect((await world.client().request({ method: 'HEAD', url: location, headers: tus })).headers).toMatchObject({
    'tus-resumable': '1.0.0',
  });
});

test('what is not what was announced is refused when it is checked', async () => {
  const metadata = `filename ${base64('a.txt')},sha256 ${base64('0'.repeat(64))}`;
  const location = String((await begin(5, metadata)).headers['location']);
  expect((await patch(location, 0, Buffer.from('hello'))).status).toBe(204);
  expect((await untilChecked(location, 'refused')).body.problem).toContain('SHA-256');
  const disguised = String((await begin(5, `filename ${base64('a.png')}`)).headers['location']);
  expect((await patch(disguised, 0, Buffer.from('hello'))).status).toBe(204);
  expect((await untilChecked(disguised, 'refused')).body.problem).toContain('image/png');
});

test('purpose: what the field does not accept is refused before the first byte, or when it is checked', async () => {
  const query = '?purpose=user.avatar';
  const png = `filename ${base64('me.png')}`;
  expectProblem(await begin(5 * mebibyte + 1, png, query), 'body_too_large', 'resumable');
  expectProblem(await begin(5, `filename ${base64('me.txt')}`, query), 'file_type_refused', 'resumable');
  expectProblem(await begin(5, `filename ${base64('me')},filetype ${base64('text/csv')}`, query), 'file_type_refused');
  const direct = (name: string, size: number) => client.post(`/v1/uploads/direct${query}`, { name, size_bytes: size });
  expectProblem(await direct('me.png', 5 * mebibyte + 1), 'body_too_large', 'direct');
  expectProblem(await direct('me.txt', 5), 'file_type_refused', 'direct');
  const location = String((await begin(5, `filename ${base64('me')}`, query)).headers['location']);
  expect((await patch(location, 0, Buffer.from('hello'))).status).toBe(204);
  expect((await untilChecked(location, 'refused')).body.problem).toContain('allowed here are image/jpeg');
});

test('a direct upload: a link takes the bytes, once and until it ends, and they are checked', async () => {
  const direct = (more: object = {}) =>
    client.post('/v1/uploads/direct', { name: 'a.txt', size_bytes: 5, type: 'text/plain', ...more });
  const put = (url: string, payload: string) =>
    world.client().request({
      method: 'PUT',
      url: url.replace('https://api.test', ''),
      payload,
      headers: { 'content-type': 'text/plain' },
    });
  expectProblem(await direct({ size_bytes: 32 * mebibyte + 1 }), 'body_too_large');
  const { status, body } = await direct();
  expect({ status, body }).toEqual({
    status: 201,
    body: { id: expect.any(String), url: expect.any(String), headers: {}, expires_at: expect.any(String) },
  });
  const location = `/v1/uploads/${body.id}`;
  const other = (await direct()).body;
  const token = String(body.url).split('token=')[1] ?? '';
  expectProblem(await put(`/v1/uploads/${other.id}/content?token=${token}`, 'hello'), 'not_found', 'of another upload');
  expectProblem(await put(`${body.url}x`, 'hello'), 'not_found', 'a changed token');
  expectProblem(await put(body.url, 'hello!'), 'body_too_large', 'more than announced');
  expectProblem(await put(body.url, 'hell'), 'checksum_mismatch', 'less than announced');
  expect((await put(body.url, 'hello')).status).toBe(204);
  await untilChecked(location, 'ready');
  expectProblem(await put(body.url, 'world'), 'upload_complete', 'again');
  expect((await stored(location)).toString()).toBe('hello');
  expect((await client.post(`${location}/complete`)).status).toBe(204);
  expect((await client.get(location)).body.status).toBe('ready');

  // Completed without bytes.
  expect((await client.post(`/v1/uploads/${other.id}/complete`)).status).toBe(204);
  await untilChecked(`/v1/uploads/${other.id}`, 'refused');
  const late = (await direct()).body;
  world.clock.advance(3_600_001);
  expectProblem(await put(late.url, 'hello'), 'not_found', 'too late');
});
