import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open as openFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CloudProvider } from '#activities/clients/storage/cloud-provider.ts';
import { synchronize } from '#activities/clients/storage/durable-files.ts';
import { DiskProvider } from '#activities/clients/storage/disk-provider.ts';
import { FileTypes } from '#activities/clients/storage/file-types.ts';
import { MemoryBudget } from '#activities/clients/storage/memory-budget.ts';
import { StorageError, type StorageFailure, type StorageProvider } from '#activities/clients/storage/provider.ts';
import { receive, type ReceiveContext } from '#activities/clients/storage/receive.ts';
import { resumeReceiving, type ResumableState } from '#activities/clients/storage/resume-receiving.ts';
import { S3Provider } from '#activities/clients/storage/s3-provider.ts';
import { transferObject } from '#activities/clients/storage/transfer-object.ts';
import { incomingKey } from '#activities/clients/storage/upload-keys.ts';
import type { UploadedPart, UploadProgress } from '#entities/kit/objects/upload-rows.ts';
import { S3_CREDENTIALS } from '#temporal-dev/servers/launch-s3.ts';
import { openStorageProxy, type StorageProxy } from '../kit/fakes/storage-proxy.ts';
import { startObjectStore, type ObjectStore } from '../kit/object-stores.ts';
import { newCloudBucket, newS3Bucket, openEdge, openedProviders } from '../kit/storage-providers.ts';

const text = 'text/plain';
const bytesOf = async (provider: StorageProvider, key: string, options?: Parameters<StorageProvider['read']>[1]) =>
  Buffer.concat(await (await provider.read(key, options)).stream.toArray());
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Pieces as a socket delivers them. */
function piecesOf(content: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < content.length; start += 60_000) pieces.push(content.subarray(start, start + 60_000));
  return pieces;
}

async function failureOf(work: Promise<unknown>): Promise<StorageFailure | 'no failure'> {
  try {
    await work;
    return 'no failure';
  } catch (error) {
    if (error instanceof StorageError) return error.failure;
    throw error;
  }
}

/** Stores content in parts of the smallest size. */
async function storeInParts(provider: StorageProvider, key: string, content: Buffer) {
  const { minBytes } = provider.partRules;
  const ref = await provider.beginParts(key, text, minBytes);
  const parts = [];
  for (let number = 1; (number - 1) * minBytes < Math.max(1, content.length); number += 1) {
    const part = content.subarray((number - 1) * minBytes, number * minBytes);
    parts.push({ number, sizeBytes: part.length, tag: await provider.putPart(ref, number, piecesOf(part)) });
  }
  return { ref, parts, version: await provider.finishParts(ref, parts) };
}

describe.each(openedProviders)('provider $name', ({ open, signsLinks }) => {
  let provider: StorageProvider;
  let close: () => Promise<void>;
  let folder: string;
  let counter = 0;
  /** A key of an organization of its own. */
  const newKey = () =>
    `core/01ORGANIZATION/${randomBytes(15).toString('hex')}${String((counter += 1) % 100).padStart(2, '0')}`;

  beforeAll(async () => {
    ({ provider, close } = await open());
    folder = await mkdtemp(join(tmpdir(), 'core-conformance-'));
  });
  afterAll(async () => {
    await close();
    await rm(folder, { recursive: true });
  });

  it.each([0, 1, 65_536, 3_000_001])('returns the %i bytes that were stored', async (size) => {
    const key = newKey();
    const content = randomBytes(size);
    const version = await provider.put(key, piecesOf(content), text);
    expect(sha256(await bytesOf(provider, key))).toBe(sha256(content));
    expect(await provider.head(key)).toEqual({ sizeBytes: size, version });
    const read = await provider.read(key, { version });
    expect([read.sizeBytes, read.version]).toEqual([size, version]);
    read.stream.destroy();
  });

  it('stores a range of a file', async () => {
    const key = newKey();
    const path = join(folder, 'parts');
    await writeFile(path, 'before the part after');
    await using file = await openFile(path, 'r');
    await provider.put(key, { file, start: 7, end: 15 }, text);
    expect(String(await bytesOf(provider, key))).toBe('the part');
    await provider.put(key, { file, start: 7, end: 7 }, text);
    expect(await provider.head(key)).toMatchObject({ sizeBytes: 0 });
  });

  it('knows no object that was not stored', async () => {
    const key = newKey();
    expect(await provider.head(key)).toBeUndefined();
    expect(await failureOf(provider.read(key))).toBe('missing');
    expect(await failureOf(provider.copy(key, newKey(), { ifVersion: '1' }))).toBe('missing');
    await provider.delete([key, newKey()]);
  });

  it('gives another version to other bytes, and reads only the version that is asked for', async () => {
    const key = newKey();
    const first = await provider.put(key, [Buffer.from('one')], text);
    const second = await provider.put(key, [Buffer.from('two')], text);
    expect(second).not.toBe(first);
    expect(await failureOf(provider.read(key, { version: first }))).toBe('changed');
    expect(String(await bytesOf(provider, key, { version: second }))).toBe('two');
  });

  it.each([
    ['the first byte', { first: 0, last: 0 }, '0'],
    ['bytes in the middle', { first: 3, last: 5 }, '345'],
    ['the last byte', { first: 9, last: 9 }, '9'],
    ['more bytes than there are', { first: 8, last: 5_000 }, '89'],
  ])('reads %s', async (_what, range, expected) => {
    const key = newKey();
    await provider.put(key, [Buffer.from('0123456789')], text);
    const { stream, sizeBytes } = await provider.read(key, { range });
    expect(String(Buffer.concat(await stream.toArray()))).toBe(expected);
    expect(sizeBytes).toBe(10);
  });

  it.each([
    ['one byte', () => 1],
    ['a part less a byte', (part: number) => part - 1],
    ['a part', (part: number) => part],
    ['a part and a byte', (part: number) => part + 1],
    ['three parts', (part: number) => 3 * part],
  ])('makes an object of %s, and again when it is told twice', async (_what, sizeOf) => {
    const key = newKey();
    const content = randomBytes(sizeOf(provider.partRules.minBytes));
    const { ref, parts, version } = await storeInParts(provider, key, content);
    expect(sha256(await bytesOf(provider, key, { version }))).toBe(sha256(content));
    expect(await provider.finishParts(ref, parts)).toBe(version);
    expect(await provider.head(key)).toEqual({ sizeBytes: content.length, version });
  });

  it('replaces a part, also by a shorter one, and takes parts in any order', async () => {
    const key = newKey();
    const { minBytes } = provider.partRules;
    const ref = await provider.beginParts(key, text, minBytes);
    const first = randomBytes(minBytes);
    const wrong = randomBytes(minBytes);
    await Promise.all([provider.putPart(ref, 2, piecesOf(wrong)), provider.putPart(ref, 1, piecesOf(wrong))]);
    // JSON in between: another process goes on.
    const again = JSON.parse(JSON.stringify(ref)) as typeof ref;
    await writeFile(join(folder, 'last'), 'the last part');
    await using file = await openFile(join(folder, 'last'), 'r');
    const tags = [
      await provider.putPart(again, 1, piecesOf(first)),
      await provider.putPart(again, 2, { file, start: 4, end: 13 }),
    ];
    expect(await provider.head(key)).toBeUndefined();
    await provider.finishParts(again, [
      { number: 1, sizeBytes: minBytes, tag: tags[0] ?? '' },
      { number: 2, sizeBytes: 9, tag: tags[1] ?? '' },
    ]);
    expect(sha256(await bytesOf(provider, key))).toBe(sha256(Buffer.concat([first, Buffer.from('last part')])));
  });

  it('gives parts up, once and twice, and makes no object of them', async () => {
    const key = newKey();
    const ref = await provider.beginParts(key, text, provider.partRules.minBytes);
    const tag = await provider.putPart(ref, 1, [Buffer.from('part')]);
    await provider.abortParts(ref);
    await provider.abortParts(ref);
    expect(await failureOf(provider.finishParts(ref, [{ number: 1, sizeBytes: 4, tag }]))).toBe('missing');
    expect(await provider.head(key)).toBeUndefined();
  });

  it('removes the parts of uploads that nobody finished together with their key, and no others', async () => {
    const [key, { minBytes }] = [newKey(), provider.partRules];
    const part = { number: 1, sizeBytes: 4 };
    const begun = async (of: string) => {
      const ref = await provider.beginParts(of, text, minBytes);
      return { ref, parts: [{ ...part, tag: await provider.putPart(ref, 1, [Buffer.from('part')]) }] };
    };
    const [first, second, other] = [await begun(key), await begun(key), await begun(`${key}.in`)];
    // A process that was killed has noted neither of them.
    await provider.delete([key]);
    for (const { ref, parts } of [first, second])
      expect(await failureOf(provider.finishParts(ref, parts))).toBe('missing');
    expect(await provider.head(key)).toBeUndefined();
    await provider.finishParts(other.ref, other.parts);
    expect(await provider.head(`${key}.in`)).toMatchObject({ sizeBytes: 4 });
  });

  it('copies the version that was read, and nothing that replaced it', async () => {
    const [from, to, other] = [newKey(), newKey(), newKey()];
    const first = await provider.put(from, [Buffer.from('one')], text);
    const copied = await provider.copy(from, to, { ifVersion: first });
    expect(await provider.head(to)).toEqual({ sizeBytes: 3, version: copied });
    expect(await provider.copy(from, to, { ifVersion: first })).toBe((await provider.head(to))?.version);
    await provider.put(from, [Buffer.from('two')], text);
    expect(await failureOf(provider.copy(from, other, { ifVersion: first }))).toBe('changed');
    expect(await provider.head(other)).toBeUndefined();
    await provider.delete([from]);
    expect(String(await bytesOf(provider, to))).toBe('one');
  });

  it('deletes many objects, of which some do not exist', async () => {
    const keys = [newKey(), newKey(), newKey()];
    for (const key of keys.slice(0, 2)) await provider.put(key, [Buffer.from('x')], text);
    await provider.delete(keys);
    for (const key of keys) expect(await provider.head(key)).toBeUndefined();
    await provider.delete([]);
  });

  it('lists the objects of a prefix in the order of their keys', async () => {
    const prefix = `core-${randomBytes(8).toString('hex')}/`;
    const keys = ['a/1', 'a-b/1', 'a/2', 'b/1', 'c'].map((name) => `${prefix}${name}`);
    await Promise.all(keys.map((key) => provider.put(key, [Buffer.from(key)], text)));
    await provider.put(`${prefix.slice(0, -1)}0/a`, [Buffer.from('other')], text);
    const { items, after } = await provider.list(prefix);
    expect(items.map(({ key }) => key)).toEqual(keys.toSorted((one, other) => (one < other ? -1 : 1)));
    expect(items.map(({ sizeBytes }) => sizeBytes)).toEqual(items.map(({ key }) => key.length));
    expect(items.every(({ modifiedAt }) => Math.abs(Date.now() - modifiedAt.getTime()) < 3_600_000)).toBe(true);
    expect(after).toBeUndefined();
    const rest = await provider.list(prefix, `${prefix}a/1`);
    expect(rest.items.map(({ key }) => key)).toEqual([`${prefix}a/2`, `${prefix}b/1`, `${prefix}c`]);
    expect((await provider.list(`${prefix}nothing/`)).items).toEqual([]);
  });

  it('stops to read when the reader gives up', async () => {
    const key = newKey();
    await provider.put(key, piecesOf(randomBytes(3_000_000)), text);
    const giveUp = new AbortController();
    const { stream } = await provider.read(key, { signal: giveUp.signal });
    await expect(
      (async () => {
        for await (const _piece of stream) giveUp.abort();
      })(),
    ).rejects.toThrow();
  });

  if (signsLinks) {
    it('serves links to anybody until they expire, with type and disposition as they were signed', async () => {
      const one = newKey();
      await provider.put(one, [Buffer.from('content')], 'text/html');
      const presentation = {
        expiresInSeconds: 60,
        contentType: 'text/plain',
        disposition: 'attachment; filename="a b.txt"',
      };
      const link = (await provider.presignGet?.(one, presentation)) ?? '';
      const answer = await fetch(link);
      expect(await answer.text()).toBe('content');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/plain',
        'content-disposition': 'attachment; filename="a b.txt"',
        'cache-control': 'private, no-store',
      });
      const changedLink = link.replace('text%2Fplain', 'text%2Fhtml');
      expect(changedLink).not.toBe(link);
      expect((await fetch(changedLink)).status).toBe(403);
    });

    it('takes an upload by link of the signed length and type only', async () => {
      const one = newKey();
      const upload = await provider.presignPut?.(one, { expiresInSeconds: 60, sizeBytes: 7, contentType: text });
      if (!upload) throw new Error('the provider signs uploads');
      const put = (body: string, headers: Record<string, string>) =>
        fetch(upload.url, { method: 'PUT', headers, body });
      expect((await put('content and more', { ...upload.headers })).status).toBe(403);
      expect((await put('content', { 'content-type': 'text/html' })).status).toBe(403);
      expect(await provider.head(one)).toBeUndefined();
      expect((await put('content', { ...upload.headers })).status).toBe(200);
      expect(String(await bytesOf(provider, one))).toBe('content');
    });
  }

  it('passes a probe that leaves nothing behind', async () => {
    await provider.probe();
    expect((await provider.list('probe/')).items).toEqual([]);
  });
});

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
  let store: ObjectStore;
  let proxy: StorageProxy;
  let provider: StorageProvider;
  const key = () => `core/01ORGANIZATION/${randomBytes(16).toString('hex')}`;
  const service = () => ({ region: 'us-east-1', endpoint: proxy.url, credentials: S3_CREDENTIALS });
  let bucket: string;

  beforeAll(async () => {
    store = await startObjectStore('s3');
    bucket = await newS3Bucket(store.url);
    proxy = await openStorageProxy(store.url);
    provider = new S3Provider(bucket, service());
  });
  afterAll(async () => {
    await proxy.close();
    await store.stop();
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
    ({ provider, close } = await openEdge());
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

it('cloudstore lists on after a page that has fewer objects than were asked for, or none', async () => {
  const store = await startObjectStore('gcs');
  const proxy = await openStorageProxy(store.url);
  try {
    const provider = new CloudProvider(await newCloudBucket(store.url), { endpoint: proxy.url, projectId: '' });
    for (const name of ['a', 'b']) await provider.put(`core/${name}`, [Buffer.from(name)], 'text/plain');
    const page = (items: readonly object[]) =>
      JSON.stringify({ kind: 'storage#objects', items, nextPageToken: 'more' });
    const first = { name: 'core/a', size: '1', updated: '2026-01-01T00:00:00Z' };
    for (const items of [[], [first]])
      proxy.inject({ header: ['x-test', 'page'], body: [/^[^]*$/, page(items)] }, ({ url }) => url.includes('/o?'));
    const some = await provider.list('core/');
    expect(some).toMatchObject({ items: [{ key: 'core/a' }], after: 'core/a' });
    expect(await provider.list('core/', some.after)).toMatchObject({ items: [{ key: 'core/b' }], after: undefined });
  } finally {
    await proxy.close();
    await store.stop();
  }
});
