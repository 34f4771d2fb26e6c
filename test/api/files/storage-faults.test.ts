// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { randomBytes } from 'node:crypto';
import { ListMultipartUploadsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import {
  openStorageProxy,
  type SeenRequest,
  type StorageFault,
  type StorageProxy,
} from '../../kit/fakes/storage-proxy.ts';
import { formOf } from '../../kit/files/multipart-form.ts';
import { startObjectStore, type ObjectStore } from '../../kit/object-stores.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { parseAnswer, RawConnection } from '../../kit/http/raw-http.ts';
import { newS3Bucket } from '../../kit/storage-providers.ts';
import { bucketstoreSettings, providerVariable, s3ClientOf } from '../../kit/storage-settings.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const mebibyte = 1_048_576;

let store: ObjectStore;
let proxy: StorageProxy;
let bucket: string;
let s3: S3Client;
let environment: Readonly<Record<string, string>>;
let world: World;
let url: string;
beforeAll(async () => {
  store = await startObjectStore('s3');
  proxy = await openStorageProxy(store.url);
  bucket = await newS3Bucket(store.url);
  s3 = s3ClientOf(store.url);
  environment = {
    CORE_OBJECTSTORAGE_DEVMODE: 'false',
    [providerVariable('bucketstore.enabled')]: 'true',
    ...bucketstoreSettings(proxy.url, bucket),
    CORE_SERVER_READTIMEOUT: '600000',
    CORE_SERVER_WRITETIMEOUT: '600000',
  };
  world = await openWorld({ environment });
  ({ url } = await world.listen());
});
afterAll(async () => {
  await world.close();
  s3.destroy();
  await proxy.close();
  await store.stop();
});

/** Changes settings until the end of the test. */
const set = (variables: Readonly<Record<string, string>>) => {
  for (const variable of Object.keys(variables)) changed.add(variable);
  return world.reconfigure(variables);
};
const changed = new Set<string>();
afterEach(async () => {
  proxy.heal();
  await world.reconfigure(Object.fromEntries([...changed].map((variable) => [variable, environment[variable]])));
  changed.clear();
});

interface Uploader {
  readonly person: Person;
  readonly client: TestClient;
  /** Whether a request is about an object of this organization. */
  readonly concerns: (request: SeenRequest) => boolean;
}

async function newUploader(): Promise<Uploader> {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  return { person, client, concerns: (request) => request.url.includes(`/${person.organization.id}/`) };
}

const formWith = (content: Buffer, name = 'content.bin') => formOf([{ field: 'uploadFile', name, content }]);

function upload({ client }: Uploader, content: Buffer, name?: string): Promise<TestAnswer> {
  const { payload, type } = formWith(content, name);
  return client.mutate({ method: 'POST', url: '/v1/uploads', payload, headers: { 'content-type': type } });
}

/** A small file is stored with one request, a large one in three parts. */
const small = randomBytes(1_000);
const large = randomBytes(12 * mebibyte);

type Requests = (request: SeenRequest) => boolean;
const whole: Requests = ({ method, url: path }) => method === 'PUT' && !path.includes('partNumber');
const begin: Requests = ({ method, url: path }) => method === 'POST' && path.includes('uploads');
const part =
  (number: number): Requests =>
  ({ method, url: path }) =>
    method === 'PUT' && path.includes(`partNumber=${number}&`);
const completion: Requests = ({ method, url: path }) => method === 'POST' && path.includes('uploadId');
const confirmation: Requests = ({ method }) => method === 'HEAD';

/** The upload was answered with 503; neither memory nor temporary files are held for it, and its bytes are no object. */
async function expectGivenUp(answer: TestAnswer, { person }: Uploader, about: string): Promise<void> {
  expectProblem(answer, 'storage_unavailable', about);
  expect(answer.headers['retry-after'], about).toBe('5');
  const prefix = `/${person.organization.id}/`;
  const { Uploads = [] } = await s3.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  expect(
    Uploads.filter(({ Key }) => Key?.includes(prefix)),
    about,
  ).toEqual([]);
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  expect(
    Contents.filter(({ Key }) => Key?.includes(prefix)),
    about,
  ).toEqual([]);
  const rows = await asOwner<{ state: string; object: string }>(
    world,
    'select u.state, o.state as object from uploads u join stored_objects o on o.id = u.object_id where u.organization_id = $1',
    [person.organization.id],
  );
  expect(rows, about).toEqual([{ state: 'refused', object: 'removing' }]);
}

const never = Number.POSITIVE_INFINITY;

/** What a provider does to an upload that has to wait for it. */
const slow = { dripEveryMs: 100 };
const waits: readonly (readonly [string, Buffer, StorageFault, Requests])[] = [
  ['a file of one request is not answered', small, 'hang', whole],
  ['a file of one request is answered byte by byte', small, slow, whole],
  ['the parts cannot be begun', large, 'hang', begin],
  ['the first part is not answered', large, 'hang', part(1)],
  ['a later part is answered byte by byte', large, slow, part(2)],
  ['the completion is not answered', large, 'hang', completion],
  ['the completion is answered byte by byte', large, slow, completion],
  ['the object is not confirmed', small, 'hang', confirmation],
];

test('server.writetimeout: a provider that lets an upload wait for longer ends it, and what it held is given back', async () => {
  const uploaders = await Promise.all(waits.map(() => newUploader()));
  const resuming = await newUploader();
  await set({ CORE_SERVER_WRITETIMEOUT: '6000' });
  const ended = waits.map(async ([about, content, fault, matches], index) => {
    const uploader = uploaders[index] as Uploader;
    proxy.inject(fault, (request) => uploader.concerns(request) && matches(request), never);
    await expectGivenUp(await upload(uploader, content), uploader, about);
  });
  await Promise.all([...ended, resumesAfterStall(resuming)]);
  expect(world.runtime.fileReceiver.usage).toMatchObject({ memory: 0, files: 0, waiting: 0 });
});

/** The parts that were stored stay, and the upload goes on after them. */
async function resumesAfterStall({ client, concerns }: Uploader): Promise<void> {
  const tus = { 'tus-resumable': '1.0.0' };
  const headers = { ...tus, 'upload-length': String(large.length), 'upload-metadata': 'filename Y29udGVudC5iaW4=' };
  const begun = await client.mutate({ method: 'POST', url: '/v1/uploads/resumable', headers });
  const location = String(begun.headers['location']);
  const patch = (offset: number) =>
    client.mutate({
      method: 'PATCH',
      url: location,
      // A copy: whoever receives bytes uses them up.
      payload: Buffer.from(large.subarray(offset)),
      headers: { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
    });
  proxy.inject('hang', (request) => concerns(request) && part(2)(request));
  expectProblem(await patch(0), 'storage_unavailable');
  const offset = Number((await client.request({ method: 'HEAD', url: location })).headers['upload-offset']);
  expect(offset).toBe(5 * mebibyte);
  expect((await patch(offset)).status).toBe(204);
}

describe('a provider that fails while it takes a file', () => {
  test.each<readonly [string, Buffer, StorageFault, Requests]>([
    ['answers 500', small, { status: 500 }, whole],
    ['answers 500 to a part', large, { status: 500 }, part(2)],
    ['is full', small, { status: 507 }, whole],
    ['is cut off in the middle of a part', large, { cutRequestAfter: 100_000 }, part(3)],
    ['names another ETag than the object has', small, { header: ['etag', '"0123456789abcdef"'] }, whole],
    [
      'names another ETag of the completed object',
      large,
      { header: ['x-test', '1'], body: [/<ETag>.*?<\/ETag>/, '<ETag>"0123456789abcdef"</ETag>'] },
      completion,
    ],
    ['has an object of another size', small, { header: ['content-length', '999'] }, confirmation],
  ])('%s', async (about, content, fault, matches) => {
    const uploader = await newUploader();
    proxy.inject(fault, (request) => uploader.concerns(request) && matches(request), never);
    await expectGivenUp(await upload(uploader, content), uploader, about);
  });

  test('is away', async () => {
    const variable = providerVariable('bucketstore.endpoint');
    const uploader = await newUploader();
    await set({ [variable]: 'http://127.0.0.1:1' });
    const answer = await upload(uploader, small);
    await expectGivenUp(answer, uploader, 'is away');
  });

  test('in the same way after GraphQL', async () => {
    const { client, concerns } = await newUploader();
    proxy.inject({ status: 500 }, (request) => concerns(request) && whole(request), never);
    const query = 'mutation ($input: CreateFileInput!) { createFile(input: $input) { file { id } } }';
    const { payload, type } = formOf([
      { field: 'operations', content: JSON.stringify({ query, variables: { input: { content: null } } }) },
      { field: 'map', content: '{"0":["variables.input.content"]}' },
      { field: '0', name: 'notes.txt', content: 'Some notes.' },
    ]);
    const headers = { 'content-type': type };
    const answer = await client.mutate({ method: 'POST', url: '/graphql', payload, headers });
    expectProblem(answer, 'storage_unavailable');
    expect(answer.headers['retry-after']).toBe('5');
  });
});

describe('a provider that fails while a file is downloaded', () => {
  let uploader: Uploader;
  let download: string;
  const content = Buffer.alloc(3 * mebibyte, 'Some notes.');
  beforeAll(async () => {
    uploader = await newUploader();
    const { client } = uploader;
    const [{ id }] = (await upload(uploader, content, 'notes.txt')).body.uploads;
    download = `/v1/files/${(await client.post('/v1/files', { content: id })).body.content.id}/download`;
  });
  const get = () =>
    fetch(`${url}${download}`, { headers: { authorization: `Bearer ${uploader.client.cookies.get('access_token')}` } });
  const reading: Requests = (request) => request.method === 'GET' && uploader.concerns(request);

  test.each<readonly [string, StorageFault]>([
    ['answers 500', { status: 500 }],
    ['has another version than the row', { header: ['etag', '"0123456789abcdef"'] }],
  ])('%s', async (_about, fault) => {
    // Requests without a body are repeated.
    proxy.inject(fault, reading, 3);
    const answer = await uploader.client.get(download);
    expectProblem(answer, 'storage_unavailable');
    expect(answer.headers['retry-after']).toBe('5');
  });

  test('is away', async () => {
    await set({ [providerVariable('bucketstore.endpoint')]: 'http://127.0.0.1:1' });
    const answer = await uploader.client.get(download);
    expectProblem(answer, 'storage_unavailable');
    expect(answer.headers['retry-after']).toBe('5');
  });

  test('breaks off: the client sees that the file is not whole', async () => {
    proxy.inject({ cutAnswerAfter: mebibyte }, reading);
    await expect(get().then((answer) => answer.arrayBuffer())).rejects.toThrow();
  });

  test('does not answer: the request ends with its deadline', async () => {
    await set({ CORE_SERVER_WRITETIMEOUT: '2000' });
    proxy.inject('hang', reading);
    const answer = await uploader.client.get(download);
    expectProblem(answer, 'deadline_exceeded');
    expect(answer.headers['retry-after']).toBe('1');
  });

  test('and is whole again afterwards', async () => {
    expect(Buffer.from(await (await get()).arrayBuffer()).equals(content)).toBe(true);
  });
});

test('a file in parts is confirmed with one request', async () => {
  const uploader = await newUploader();
  const before = proxy.seen.length;
  expect((await upload(uploader, large)).status).toBe(201);
  const requests = proxy.seen.slice(before).filter(uploader.concerns);
  expect(requests.filter(confirmation)).toHaveLength(1);
  // Begun, three parts, completed.
  expect(requests).toHaveLength(6);
});

test('objectstorage.maxmemorymb: stalled uploads of one organization leave room for those of others', async () => {
  const [greedy, other] = await Promise.all([newUploader(), newUploader()]);
  await set({ CORE_OBJECTSTORAGE_MAXMEMORYMB: '4' });
  // Of each, everything but the end of the first part.
  const { payload, type } = formWith(large);
  const connections = Array.from({ length: 8 }, () => {
    const connection = new RawConnection(url);
    connection.write(
      `POST /v1/uploads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedy.client.cookies.get('access_token')}\r\n` +
        `Connection: close\r\nContent-Type: ${type}\r\nContent-Length: ${payload.length}\r\n\r\n`,
    );
    connection.write(payload.subarray(0, 4.5 * mebibyte));
    return connection;
  });
  const { fileReceiver } = world.runtime;
  // They hold all that one organization may hold, and more of them wait.
  await eventually(async () => fileReceiver.usage.files === 20 * mebibyte && fileReceiver.usage.waiting > 0);
  expect((await upload(other, randomBytes(6 * mebibyte))).status).toBe(201);
  expect(fileReceiver.usage.files).toBe(20 * mebibyte);

  // Those that waited go on as soon as others have ended.
  const [first, ...others] = connections as [RawConnection, ...RawConnection[]];
  for (const connection of others) connection.end();
  first.write(payload.subarray(4.5 * mebibyte));
  expect(parseAnswer(await first.untilClosed()).status).toBe(201);
  await eventually(async () => fileReceiver.usage.files === 0);
  expect(fileReceiver.usage).toMatchObject({ memory: 0, waiting: 0 });
});
