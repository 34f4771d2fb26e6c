// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { synchronize } from '#activities/clients/storage/providers/durable-files.ts';
import { DiskProvider } from '#activities/clients/storage/providers/disk-provider.ts';
import { FileTypes } from '#activities/clients/storage/file-types/file-types.ts';
import { MemoryBudget } from '#activities/clients/storage/receiving/memory-budget.ts';
import { StorageError, type StorageProvider } from '#activities/clients/storage/provider.ts';
import { receive, type ReceiveContext } from '#activities/clients/storage/receiving/receive.ts';
import { resumeReceiving, type ResumableState } from '#activities/clients/storage/receiving/resume-receiving.ts';
import { S3Provider } from '#activities/clients/storage/providers/s3-provider.ts';
import { transferObject } from '#activities/clients/storage/transfer-object.ts';
import { incomingKey } from '#activities/clients/storage/receiving/upload-keys.ts';
import type { UploadedPart, UploadProgress } from '#entities/kit/objects/upload-rows.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { openStorageProxy, type StorageProxy } from '../kit/fakes/storage-proxy.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { newS3Bucket, openBucket, openDatabase, openDisk, openEdge } from '../kit/storage-providers.ts';
import { bytesOf, describeProvider, failureOf, piecesOf, sha256, text } from './provider-conformance.ts';

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore('s3');
});
afterAll(() => store.stop());

/** The server is stopped at the end of the file. */
const shared = () => ({ url: store.url, stop: async () => {} });

describeProvider('disk', openDisk);
describeProvider('database', openDatabase);
describeProvider('bucketstore', () => openBucket(shared()), { signsLinks: true, listsByFolder: true });

describe('disk', () => {
  it('makes no file outside of its folder', async () => {
    const provider: StorageProvider = new DiskProvider(join(tmpdir(), 'core-conformance-never'));
    for (const key of ['../x', 'a/../../x', '/etc/passwd', '.incoming/x', 'a//b', 'a\0b', '']) {
      await expect(provider.put(key, [], text)).rejects.toThrow('is not the key of an object');
      await expect(provider.read(key)).rejects.toThrow('is not the key of an object');
    }
  });

  it('reads a short range at once, of the version that was asked for and of no other', async () => {
    const root = await mkdtemp(join(tmpdir(), 'core-disk-'));
    const provider = new DiskProvider(root);
    const key = 'core/01A/one';
    const version = await provider.put(key, [Buffer.from('0123456789')], text);
    const readShort = (first: number, last: number) => provider.readShort(key, { range: { first, last }, version });
    expect(String(await readShort(3, 5))).toBe('345');
    expect(String(await readShort(9, 9))).toBe('9');
    expect(await failureOf(readShort(8, 10))).toBe('broken');
    await provider.put(key, [Buffer.from('something else')], text);
    expect(await failureOf(readShort(3, 5))).toBe('changed');
    await provider.delete([key]);
    expect(await failureOf(readShort(3, 5))).toBe('missing');
    await rm(root, { recursive: true });
    const unmounted = new DiskProvider(root, async () => false);
    expect(await failureOf(unmounted.readShort(key, { range: { first: 0, last: 0 }, version }))).toBe('unavailable');
  });

  it('removes what an interrupted write left, together with its key', async () => {
    const root = await mkdtemp(join(tmpdir(), 'core-disk-'));
    const provider: StorageProvider = new DiskProvider(root);
    await provider.beginParts('core/01A/one', text, 1);
    await provider.beginParts('core/01A/other', text, 1);
    await provider.delete(['core/01A/one']);
    expect(await readdir(join(root, '.incoming'))).toEqual([expect.stringMatching(/^core~01A~other~/)]);
    await rm(root, { recursive: true });
  });

  it('removes what interrupted writes left that nobody continues, only of the prefix, and no object', async () => {
    const root = await mkdtemp(join(tmpdir(), 'core-disk-'));
    const provider: StorageProvider = new DiskProvider(root);
    await provider.put('core/01A/object', [Buffer.from('content')], text);
    await provider.beginParts('core/01A/old', text, 1);
    await provider.beginParts('other/01A/old', text, 1);
    for (const name of await readdir(join(root, '.incoming'))) await utimes(join(root, '.incoming', name), 1, 1);
    await utimes(join(root, 'core/01A/object'), 1, 1);
    await provider.beginParts('core/01A/new', text, 1);
    await provider.removeUnfinished?.('core/', new Date(Date.now() - 60_000));
    const left = [expect.stringMatching(/^core~01A~new~/), expect.stringMatching(/^other~01A~old~/)];
    expect((await readdir(join(root, '.incoming'))).toSorted()).toEqual(left);
    expect(await bytesOf(provider, 'core/01A/object')).toEqual(Buffer.from('content'));
    await rm(root, { recursive: true });
  });
});

describe('disk', () => {
  it('calls nothing missing and makes nothing while a folder in which something is stored does not exist', async () => {
    const root = join(await mkdtemp(join(tmpdir(), 'core-disk-')), 'unmounted');
    const provider: StorageProvider = new DiskProvider(root, async () => false);
    const key = 'core/01A/one';
    const ref = { key, file: '.incoming/one', partBytes: 1 };
    const works = [
      () => provider.put(key, [], text),
      () => provider.beginParts(key, text, 1),
      () => provider.putPart(ref, 1, []),
      () => provider.finishParts(ref, []),
      () => provider.abortParts(ref),
      () => provider.read(key),
      () => provider.head(key),
      () => provider.copy(key, 'core/01A/other', { ifVersion: '1' }),
      () => provider.delete([key]),
      () => provider.list('core/'),
    ];
    for (const work of works) expect(await failureOf(work())).toBe('unavailable');
    expect(existsSync(root)).toBe(false);
  });

  it('synchronizes a folder once for all who ask while it is under way', async () => {
    const root = await mkdtemp(join(tmpdir(), 'core-disk-'));
    const [first, second, third] = [synchronize(root), synchronize(root), synchronize(root)];
    // What the second renamed may have come after the first began.
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    await Promise.all([first, second]);
    const unmounted = join(root, 'unmounted');
    const failed = await Promise.allSettled([synchronize(unmounted), synchronize(unmounted)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await mkdir(unmounted);
    await synchronize(unmounted);
    await rm(root, { recursive: true });
  });

  it('keeps no parts of a copy that nobody goes on with', async () => {
    const root = await mkdtemp(join(tmpdir(), 'core-disk-'));
    const from: StorageProvider = new DiskProvider(join(root, 'from'));
    const to: StorageProvider = new DiskProvider(join(root, 'to'));
    const content = randomBytes(from.partRules.minBytes * 4);
    const key = 'core/01A/one';
    await from.put(key, [content], text);
    const putPart = to.putPart.bind(to);
    to.putPart = async (ref, number, body) => {
      if (number > 1) throw new StorageError('unavailable', 'It is away.');
      return putPart(ref, number, body);
    };
    const expected = { sizeBytes: content.length, sha256: createHash('sha256').update(content).digest() };
    const transfer = transferObject({
      from: { provider: from, key },
      to: { provider: to, key },
      expected: { ...expected, contentType: text },
      signal: new AbortController().signal,
    });
    expect(await failureOf(transfer)).toBe('unavailable');
    expect(await readdir(join(root, 'to', '.incoming'))).toEqual([]);
    await rm(root, { recursive: true });
  });
});

describe('a bucket service that fails', () => {
  let proxy: StorageProxy;
  let provider: StorageProvider;
  const key = () => `core/01ORGANIZATION/${randomBytes(16).toString('hex')}`;
  const service = () => ({ region: 'us-east-1', endpoint: proxy.url, credentials: S3_CREDENTIALS });
  let bucket: string;

  beforeAll(async () => {
    bucket = await newS3Bucket(store.url);
    proxy = await openStorageProxy(store.url);
    provider = new S3Provider(bucket, service());
  });
  afterAll(async () => {
    await proxy.close();
  });

  it('is asked again for what has no body', async () => {
    const one = key();
    const version = await provider.put(one, [Buffer.from('content')], text);
    proxy.inject({ status: 503 }, ({ method }) => method === 'GET' || method === 'HEAD', 2);
    expect(String(await bytesOf(provider, one))).toBe('content');
    expect(await provider.head(one)).toEqual({ sizeBytes: 7, version });
  });

  it('is unavailable while it answers 500, and keeps nothing of what was cut', async () => {
    const one = key();
    proxy.inject({ status: 500 }, ({ method }) => method === 'PUT');
    expect(await failureOf(provider.put(one, [Buffer.from('content')], text))).toBe('unavailable');
    proxy.inject({ cutRequestAfter: 100_000 }, ({ method }) => method === 'PUT');
    expect(await failureOf(provider.put(one, piecesOf(randomBytes(3_000_000)), text))).toBe('unavailable');
    expect(await provider.head(one)).toBeUndefined();
  });

  it('does not end an answer that it breaks off', async () => {
    const one = key();
    await provider.put(one, piecesOf(randomBytes(3_000_000)), text);
    proxy.inject({ cutAnswerAfter: 100_000 }, ({ method }) => method === 'GET');
    const { stream, sizeBytes } = await provider.read(one);
    expect(sizeBytes).toBe(3_000_000);
    await expect(stream.toArray()).rejects.toThrow();
  });

  it('gets large parts over connections that are kept', async () => {
    await provider.put(key(), piecesOf(randomBytes(3_000_000)), text);
    const sent = proxy.seen.findLast(({ method }) => method === 'PUT');
    expect(sent?.headers).toMatchObject({ connection: 'keep-alive', 'content-length': '3000000' });
    expect(sent?.headers).not.toHaveProperty('expect');
  });

  it('refuses other bytes than those that were signed', async () => {
    const one = key();
    proxy.inject({ header: ['x-test', 'passed'] }, ({ method }) => method === 'PUT');
    await provider.put(one, [Buffer.from('content')], text);
    const sent = proxy.seen.findLast(({ method }) => method === 'PUT');
    expect(sent?.headers['x-amz-content-sha256']).toBe(sha256(Buffer.from('content')));
    const forged = await fetch(`${store.url}${sent?.url}`, {
      method: 'PUT',
      headers: Object.fromEntries(
        Object.entries(sent?.headers ?? {}).filter(([name]) => /^(?:x-amz|authorization|content-type|host)/.test(name)),
      ) as Record<string, string>,
      body: 'another',
    });
    expect(forged.status).toBeGreaterThanOrEqual(400);
    expect(String(await bytesOf(provider, one))).toBe('content');
  });

  it('is unavailable with other credentials, without its bucket, and when it is away', async () => {
    const wrong = { ...S3_CREDENTIALS, secretaccesskey: 'another-secret-access-key' };
    const others = [
      new S3Provider(bucket, { ...service(), credentials: wrong }),
      new S3Provider('no-such-bucket', service()),
      new S3Provider(bucket, { ...service(), endpoint: 'http://127.0.0.1:1' }),
    ];
    for (const other of others) {
      const failed = await other.probe().catch((error: unknown) => error as StorageError);
      expect(failed).toMatchObject({ name: 'StorageError', failure: 'unavailable' });
      expect(JSON.stringify([failed, (failed as Error).message])).not.toContain('secret-access-key');
    }
  });

  it('gives up uploads in parts that nobody continues, only of the prefix, and no object', async () => {
    const own = new S3Provider(await newS3Bucket(store.url), service());
    await own.put('core/01A/object', [Buffer.from('content')], text);
    const ours = await own.beginParts('core/01A/one', text, own.partRules.minBytes);
    const theirs = await own.beginParts('other/01A/one', text, own.partRules.minBytes);
    await own.removeUnfinished('core/', new Date(Date.now() - 3_600_000));
    await own.putPart(ours, 1, [Buffer.from('continued')]);
    await own.removeUnfinished('core/', new Date(Date.now() + 3_600_000));
    expect(await failureOf(own.putPart(ours, 1, [Buffer.from('too late')]))).toBe('missing');
    await own.putPart(theirs, 1, [Buffer.from('of others')]);
    expect(await bytesOf(own, 'core/01A/object')).toEqual(Buffer.from('content'));
  });

  it('has no objects without its bucket: none is read, and nothing is left to delete', async () => {
    const gone = new S3Provider('bucket-that-was-lost', service());
    const one = key();
    expect(await gone.head(one)).toBeUndefined();
    expect(await failureOf(gone.read(one))).toBe('missing');
    await gone.delete([one]);
    await gone.abortParts({ key: one, uploadId: 'of-an-upload-before' });
    expect(await failureOf(gone.put(one, [Buffer.from('content')], text))).toBe('unavailable');
    expect(await failureOf(gone.list('core/'))).toBe('unavailable');
  });
});

describe('an edge platform, which refuses parts of unequal size', () => {
  let provider: StorageProvider;
  let close: () => Promise<void>;
  let folder: string;
  const key = () => `core/01ORGANIZATION/${randomBytes(16).toString('hex')}`;
  const context = (): ReceiveContext => ({
    budget: new MemoryBudget(() => 64 * 1_048_576).shareOf('organization'),
    folder,
    stallTimeoutMs: () => 600_000,
    types: new FileTypes(() => ({ enabled: true, mimetypesfile: '', defaultcontenttype: 'application/octet-stream' })),
    onBackgroundError: () => {},
  });
  /** More than two parts, and not a whole number of them. */
  const content = randomBytes(11 * 1_048_576 + 3);
  const source = (bytes: Buffer) => Readable.from(piecesOf(bytes), { objectMode: false });

  beforeAll(async () => {
    ({ provider, close } = await openEdge(shared()));
    folder = await mkdtemp(join(tmpdir(), 'core-edge-'));
  });
  afterAll(async () => {
    await close();
    await rm(folder, { recursive: true });
  });

  it('refuses what other services take', async () => {
    const { minBytes } = provider.partRules;
    const ref = await provider.beginParts(key(), text, minBytes);
    const parts = [];
    for (const [index, sizeBytes] of [minBytes, minBytes + 1, 1].entries()) {
      const tag = await provider.putPart(ref, index + 1, [Buffer.alloc(sizeBytes)]);
      parts.push({ number: index + 1, sizeBytes, tag });
    }
    expect(await failureOf(provider.finishParts(ref, parts))).not.toBe('no failure');
  });

  it.each([
    ['known', content.length],
    ['unknown', undefined],
  ])('takes a file of %s length', async (_what, sizeBytes) => {
    const one = key();
    const expected = { name: 'content.bin', ...(sizeBytes === undefined ? {} : { sizeBytes }) };
    await receive(source(content), { provider, key: one }, expected, { maxBytes: 100 * 1_048_576 }, context());
    expect(sha256(await bytesOf(provider, one))).toBe(sha256(content));
  });

  it('takes a file in requests of any size', async () => {
    const one = key();
    const parts: UploadedPart[] = [];
    const state = {
      sizeBytes: content.length,
      received: 0,
      tailBytes: 0,
      parts,
      partsRef: null,
    } satisfies ResumableState;
    const ends = [1, 70_000, 5 * 1_048_576 + 1, 5 * 1_048_576 + 2, 10 * 1_048_576 - 1, content.length];
    for (const end of ends) {
      const bytes = source(content.subarray(state.received, end));
      const save = async ({ parts: stored, ...progress }: UploadProgress) => {
        parts.push(...stored);
        Object.assign(state, progress);
      };
      const done = await resumeReceiving(bytes, { provider, key: one }, state, save, context());
      expect(done).toEqual({ isComplete: end === content.length, received: end });
    }
    const { from, version } = {
      from: incomingKey(one),
      version: (await provider.head(incomingKey(one)))?.version ?? '',
    };
    await provider.copy(from, one, { ifVersion: version });
    expect(sha256(await bytesOf(provider, one))).toBe(sha256(content));
  });

  it('takes a copy from another provider', async () => {
    const one = key();
    const disk: StorageProvider = new DiskProvider(join(folder, 'files'));
    await disk.put(one, piecesOf(content), text);
    const expected = {
      sizeBytes: content.length,
      sha256: createHash('sha256').update(content).digest(),
      contentType: text,
    };
    const { signal } = new AbortController();
    await transferObject({ from: { provider: disk, key: one }, to: { provider, key: one }, expected, signal });
    expect(sha256(await bytesOf(provider, one))).toBe(sha256(content));
  });
});
