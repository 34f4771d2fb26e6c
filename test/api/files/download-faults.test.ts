// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { openStorageProxy, type StorageFault, type StorageProxy } from '../../kit/fakes/storage-proxy.ts';
import { startObjectStore, type ObjectStore } from '../../kit/object-stores.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { newS3Bucket } from '../../kit/storage-providers.ts';
import { bucketstoreSettings, providerVariable } from '../../kit/storage-settings.ts';
import { createFile, type FileRecord } from '../../kit/files/stored-upload.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let store: ObjectStore;
let proxy: StorageProxy;
let world: World;
let url: string;
let client: TestClient;
let record: FileRecord;
/** More than sockets hold on the way. */
const content = randomBytes(4_000_000);

beforeAll(async () => {
  store = await startObjectStore('s3');
  proxy = await openStorageProxy(store.url);
  world = await openWorld({
    environment: {
      CORE_OBJECTSTORAGE_DEVMODE: 'false',
      [providerVariable('bucketstore.enabled')]: 'true',
      [providerVariable('bucketstore.proxypresignenabled')]: 'true',
      ...bucketstoreSettings(proxy.url, await newS3Bucket(store.url)),
    },
  });
  ({ url } = await world.listen());
  const person = await buildPerson(world);
  client = await signedIn(world, person);
  record = await createFile(world, person, client, {
    bytes: content,
    name: 'a.pdf',
    contentType: 'application/pdf',
  });
});
afterAll(async () => {
  await world.close();
  await proxy.close();
  await store.stop();
});

const path = () => `/v1/files/${record.objectId}/download`;
const isRead = ({ method }: { readonly method: string }) => method === 'GET' || method === 'HEAD';
/** As often as the client of the bucket service tries. */
const always = 1_000;

async function linkOf(args = ''): Promise<string> {
  const { data } = await client.graphql(`{ file(id: "${record.id}") { content { downloadUrl${args} } } }`);
  const link = new URL(data.file.content.downloadUrl);
  return link.pathname + link.search;
}

function expectUnavailable(answer: TestAnswer, about: string): void {
  expectProblem(answer, 'storage_unavailable', about);
  expect(answer.headers['retry-after'], about).toBe('5');
  expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|secret|core\//);
}

describe('a provider that fails while a file is downloaded', () => {
  afterEach(async () => {
    proxy.heal();
    expect((await client.get(path(), { range: 'bytes=0-9' })).status).toBe(206);
  });

  const faults: readonly (readonly [string, StorageFault])[] = [
    ['500', { status: 500 }],
    ['503', { status: 503 }],
    ['another entity tag', { header: ['etag', '"00000000000000000000000000000000"'] }],
    ['403', { status: 403 }],
  ];
  test.each(faults)('answers %s: a named error, which says when to try again', async (about, fault) => {
    const once = await linkOf('(once: true)');
    proxy.inject(fault, isRead, always);
    const ways: Record<string, string>[] = [{}, { range: 'bytes=5-8' }];
    for (const headers of ways) expectUnavailable(await client.get(path(), headers), about);
    expectUnavailable(await world.client().get(once), about);
    // What needs no bytes is answered.
    expect((await client.request({ method: 'HEAD', url: path() })).status).toBe(200);
    proxy.heal();
    // No bytes were sent, so the link is not used up.
    expect((await world.client().get(once)).status).toBe(200);
    expectProblem(await world.client().get(once), 'not_found');
  });

  test('does not have the object: not found', async () => {
    proxy.inject({ status: 404 }, isRead, always);
    expectProblem(await client.get(path()), 'not_found');
  });

  test.each([
    ['breaks off', {}],
    ['breaks off in a range', { range: 'bytes=1000-3999999' }],
  ])('%s: the answer is aborted before its length is reached', async (_what, headers) => {
    const once = await linkOf('(once: true)');
    proxy.inject({ cutAnswerAfter: 300_000 }, ({ method }) => method === 'GET');
    const answer = await fetch(`${url}${once}`, { headers });
    expect(answer.headers.get('content-length')).toMatch(/^\d{7}$/);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    // Bytes were sent.
    expectProblem(await world.client().get(once), 'not_found');
  });

  test('is too slow: the request ends with its deadline', async () => {
    const hurried = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '2000' } });
    const program = hurried.client();
    program.bearer = client.cookies.get('access_token');
    const once = await linkOf('(once: true)');
    proxy.inject('hang', isRead, always);
    for (const ask of [() => program.get(path()), () => hurried.client().get(once)]) {
      const answer = await ask();
      expectProblem(answer, 'deadline_exceeded');
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    proxy.heal();
    expect((await world.client().get(once)).status).toBe(200);
  });
});

test('a provider that is away gets 503 for its files, and nothing else', async () => {
  const endpoint = providerVariable('bucketstore.endpoint');
  await world.reconfigure({ [endpoint]: 'http://127.0.0.1:1' });
  expectUnavailable(await client.get(path()), 'away');
  expect((await client.get(`/v1/files/${record.id}`)).status).toBe(200);
  await world.reconfigure({ [endpoint]: proxy.url });
  expect((await client.get(path(), { range: 'bytes=0-9' })).status).toBe(206);
});
