import { createHash, randomBytes } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { formOf, type FormPart } from '../../kit/files/multipart-form.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { exchange, parseAnswer, RawConnection } from '../../kit/http/raw-http.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const mebibyte = 1_048_576;

let world: World;
let url: string;
let owner: Person;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_OBJECTSTORAGE_MAXSIZEMB: '1' } });
  ({ url } = await world.listen());
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const notes = { field: 'uploadFile', name: 'notes.txt', type: 'text/plain', content: 'Some notes.' };
const bytes = (size: number): FormPart => ({ field: 'uploadFile', name: 'a.bin', content: randomBytes(size) });

function upload(parts: readonly FormPart[], headers: Record<string, string> = {}, query = ''): Promise<TestAnswer> {
  const { payload, type } = formOf(parts);
  return client.mutate({
    method: 'POST',
    url: `/v1/uploads${query}`,
    payload,
    headers: { 'content-type': type, ...headers },
  });
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly object: string;
  readonly key: string;
}

/** Rows of uploads, the newest last. */
function rows(): Promise<Row[]> {
  return asOwner<Row>(
    world,
    `select u.id, u.state, o.state as object, o.key from uploads u join stored_objects o on o.id = u.object_id order by u.id`,
  );
}

const stateFolder = () => join(inject('stack').folder, world.name);
const folder = () => join(stateFolder(), 'files');

async function contentOf(id: string): Promise<Buffer> {
  const { key } = (await rows()).find((row) => row.id === id) as Row;
  return readFile(join(folder(), key));
}

/** Nothing but what is ready stays: neither files nor living rows. */
async function expectNothingElse(ready: readonly string[]): Promise<void> {
  const found = await rows();
  expect(
    found.filter(({ state }) => state !== 'refused').map(({ id, state, object }) => ({ id, state, object })),
  ).toEqual(ready.map((id) => ({ id, state: 'ready', object: 'ready' })));
  // The sweep removes what was refused after its last byte.
  const keys = new Set(found.map(({ key }) => key));
  const files = (await readdir(folder(), { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const left = files.map(({ parentPath, name }) => join(parentPath, name).slice(folder().length + 1));
  expect(left.filter((file) => !keys.has(file))).toEqual([]);
  expect(await readdir(join(stateFolder(), 'uploads')).catch(() => [])).toEqual([]);
}

/** Uploads that tests of this file left ready. */
const ready: string[] = [];
const keep = ({ body }: TestAnswer): string[] => {
  const ids = (body.uploads as { id: string }[]).map(({ id }) => id);
  ready.push(...ids);
  return ids;
};

describe('POST /v1/uploads', () => {
  test('stores files, and says what they are', async () => {
    const answer = await upload([notes, { field: 'uploadFile', name: '../a b.pdf', content: '%PDF-1.7\n' }]);
    expect(answer.status).toBe(201);
    expect(answer.body.uploads).toEqual([
      {
        id: expect.any(String),
        name: 'notes.txt',
        content_type: 'text/plain',
        size_bytes: 11,
        sha256: createHash('sha256').update(notes.content).digest('hex'),
        expires_at: new Date(world.clock.now().getTime() + 86_400_000).toISOString(),
      },
      expect.objectContaining({ name: 'a b.pdf', content_type: 'application/pdf' }),
    ]);
    const [id = ''] = keep(answer);
    expect((await contentOf(id)).toString()).toBe(notes.content);
  });

  test('takes four statements, and holds no connection while bytes flow', async () => {
    const { payload, type } = formOf([notes]);
    const connection = new RawConnection(url);
    const { database } = world.runtime;
    const { pool } = database;
    const before = (await rows()).length;
    let taken = 0;
    const count = () => taken++;
    pool.on('acquire', count);
    connection.write(head(payload.length, type));
    connection.write(payload.subarray(0, payload.length - 26));
    await eventually(async () => (await rows()).length > before);
    await eventually(() => pool.idleCount === pool.totalCount);
    expect(database.activeUnits).toBe(0);
    connection.write(payload.subarray(payload.length - 26));
    const answer = parseAnswer(await connection.untilClosed());
    expect(answer.status).toBe(201);
    keep({ body: JSON.parse(answer.body) } as TestAnswer);
    pool.off('acquire', count);
    expect(taken).toBe(4);
  });

  test('asks again who the caller is after the last byte', async () => {
    const leaver = await buildPerson(world, { organization: owner.organization });
    const leaving = await signedIn(world, leaver);
    const { payload, type } = formOf([notes]);
    const connection = new RawConnection(url);
    const before = (await rows()).length;
    connection.write(head(payload.length, type, leaving));
    connection.write(payload.subarray(0, payload.length - 10));
    await eventually(async () => (await rows()).length > before);
    expect((await leaving.post('/v1/logout')).status).toBeLessThan(300);
    connection.write(payload.subarray(payload.length - 10));
    expect(parseAnswer(await connection.untilClosed()).status).toBe(401);
    expect((await rows()).at(-1)).toMatchObject({ state: 'refused', object: 'removing' });
  });

  test('is refused before the body to whoever is not signed in', async () => {
    const request =
      'POST /v1/uploads HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n';
    expect((await exchange(url, request)).status).toBe(401);
  });
});

/** The beginning of a request of this client, of which the body is sent by hand. */
function head(length: number | 'chunked', type: string, sender = client, target = '/v1/uploads'): string {
  const body = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return `POST ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${sender.cookies.get('access_token')}\r\nConnection: close\r\nContent-Type: ${type}\r\n${body}\r\n\r\n`;
}

describe('a refused upload leaves nothing', () => {
  beforeEach(() => expectNothingElse(ready));

  test('objectstorage.maxsizemb: one byte over the limit is refused, however its length is sent', async () => {
    shows('objectstorage.maxsizemb');
    keep(await upload([bytes(mebibyte)]));
    expectProblem(await upload([bytes(mebibyte + 1)]), 'body_too_large', 'by length');
    expectProblem(await upload([notes, bytes(mebibyte + 1)]), 'body_too_large', 'the last part');
    const { payload, type } = formOf([bytes(mebibyte + 1)]);
    const chunk = Buffer.concat([
      Buffer.from(`${payload.length.toString(16)}\r\n`),
      payload,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const answer = await exchange(url, Buffer.concat([Buffer.from(head('chunked', type)), chunk]));
    expect({ status: answer.status, code: JSON.parse(answer.body).code }).toEqual({
      status: 413,
      code: 'body_too_large',
    });
    // Of a length that no form may have, nothing is read.
    expect((await exchange(url, head(1_000 * mebibyte, type))).status).toBe(413);
  });

  test('objectstorage.keys: files are taken from the named fields only', async () => {
    shows('objectstorage.keys');
    expectProblem(await upload([{ ...notes, field: 'other' }]), 'invalid_input');
    await world.reconfigure({ CORE_OBJECTSTORAGE_KEYS: '["other"]' });
    keep(await upload([{ ...notes, field: 'other' }]));
    expectProblem(await upload([notes]), 'invalid_input');
    await world.reconfigure({ CORE_OBJECTSTORAGE_KEYS: undefined });
  });

  test('objectstorage.enabled: off, nothing is accepted', async () => {
    shows('objectstorage.enabled');
    await world.reconfigure({ CORE_OBJECTSTORAGE_ENABLED: 'false' });
    expectProblem(await upload([notes]), 'storage_disabled');
    await world.reconfigure({ CORE_OBJECTSTORAGE_ENABLED: undefined });
  });

  test('purpose: a file that its field does not accept, before its first byte where its client says enough', async () => {
    const before = (await rows()).length;
    const avatar = (parts: readonly FormPart[], purpose = 'user.avatar') => upload(parts, {}, `?purpose=${purpose}`);
    expectProblem(await avatar([notes]), 'file_type_refused', 'by its name');
    expectProblem(
      await avatar([{ ...notes, name: 'me', type: 'video/mp4' }]),
      'file_type_refused',
      'by its declared type',
    );
    expectProblem(await avatar([notes], 'user.name'), 'invalid_input', 'no file field');
    // 5 MB are accepted, 20 times: of a longer form nothing is read.
    await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: '102400' });
    const { type } = formOf([notes]);
    const target = '/v1/uploads?purpose=user.avatar';
    expect((await exchange(url, head(102_400 * mebibyte, type, client, target))).status).toBe(413);
    expect(await rows()).toHaveLength(before);
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(5 * mebibyte)]);
    expectProblem(await avatar([{ ...bytes(1), name: 'me.png', content: png }]), 'body_too_large', 'one file');
    expectProblem(await avatar([{ ...bytes(1), name: 'me' }]), 'file_type_refused', 'by its content');
    await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: '1' });
    keep(await avatar([{ ...bytes(1), name: 'me.png', content: png.subarray(0, 1_000) }]));
    const [row] = await asOwner<{ purpose: string }>(world, 'select purpose from uploads order by id desc limit 1');
    expect(row?.purpose).toBe('user.avatar');
  });

  test('a disk without room: 503, for the file itself and for temporary files', async () => {
    const probe = await open(join(stateFolder(), 'probe'), 'w');
    const prototype = Object.getPrototypeOf(probe) as typeof probe;
    await probe.close();
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const writev = vi.spyOn(prototype, 'writev').mockRejectedValue(full);
    const answer = await upload([notes]);
    writev.mockRestore();
    expectProblem(answer, 'storage_unavailable', 'the file');
    expect({ message: messageOf(answer), after: answer.headers['retry-after'] }).toEqual({
      message: expect.stringContaining('There is no room for the file'),
      after: '5',
    });
    await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: '2', CORE_OBJECTSTORAGE_MAXMEMORYMB: '1' });
    const write = vi.spyOn(prototype, 'write').mockRejectedValue(full);
    const temporary = await upload([bytes(1.5 * mebibyte)]);
    write.mockRestore();
    await world.reconfigure({ CORE_OBJECTSTORAGE_MAXSIZEMB: '1', CORE_OBJECTSTORAGE_MAXMEMORYMB: undefined });
    expectProblem(temporary, 'storage_unavailable', 'a temporary file');
    expect(world.runtime.fileReceiver.usage).toMatchObject({ memory: 0, files: 0 });
  });

  test('a file that is empty, or of a type that its name or its sender denies', async () => {
    expectProblem(await upload([{ ...notes, content: '' }]), 'invalid_input');
    expectProblem(await upload([{ ...notes, content: '%PDF-1.7\n\0' }]), 'file_type_refused');
    expectProblem(await upload([{ ...notes, type: 'image/png' }]), 'file_type_refused');
  });

  test('names that hide something', async () => {
    for (const name of ['a\0.txt', 'gpj.\u202Etxt', '..', '', '../..', 'a'.repeat(256)])
      expectProblem(await upload([{ ...notes, name }]), 'invalid_input', JSON.stringify(name));
    // The header of a part of a form ends at a line end; JSON has no such end.
    for (const name of ['a\r\nb.txt', 'gpj.\u202Etxt', '../..'])
      expectProblem(await client.post('/v1/uploads/direct', { name, size_bytes: 1 }), 'invalid_input', name);
  });

  test('a form without files, with texts, with too many files, or that is broken', async () => {
    expectProblem(await upload([]), 'invalid_input', 'none');
    expectProblem(await upload([{ field: 'uploadFile', content: 'text' }]), 'invalid_input', 'text');
    expectProblem(await upload(Array.from({ length: 21 }, () => notes)), 'limit_exceeded');
    const send = (payload: Buffer | string, type: string) =>
      client.mutate({ method: 'POST', url: '/v1/uploads', payload, headers: { 'content-type': type } });
    const { payload, type } = formOf([notes]);
    expectProblem(await send(payload.subarray(0, payload.length - 20), type), 'malformed_body', 'cut');
    expectProblem(await send(payload, 'multipart/form-data'), 'malformed_body', 'no boundary');
    expectProblem(await send(payload, 'multipart/form-data; boundary=other'), 'malformed_body', 'another boundary');
    const json = await send('{}', 'application/json');
    expectProblem(json, 'unsupported_media_type', 'JSON');
    expect(messageOf(json)).toContain('send the header "Content-Type: multipart/form-data".');
  });

  test('a client that leaves at any byte', async () => {
    const { payload, type } = formOf([{ ...bytes(1_000), content: Buffer.alloc(1_000, 'x') }]);
    const before = (await rows()).length;
    for (let length = 0; length < payload.length; length += 97) {
      const connection = new RawConnection(url);
      const arrived = new Promise((resolve) => world.api.app.server.once('request', resolve));
      connection.write(head(payload.length, type));
      connection.write(payload.subarray(0, length));
      await arrived;
      // Most leave before anything was written for them; the last one while its file arrives.
      if (length + 97 >= payload.length) await eventually(async () => (await rows()).length > before);
      connection.end();
    }
    await eventually(async () => {
      const left = (await rows()).slice(before);
      return left.length > 0 && left.every(({ state }) => state === 'refused');
    });
  });
});

test('what was refused left nothing', async () => {
  // The last of the clients that left may be noticed late.
  await eventually(() => expectNothingElse(ready).then(() => true));
  expect(messageOf(await upload([{ ...notes, name: 'x.png' }]))).toContain('Its name says image/png');
});
