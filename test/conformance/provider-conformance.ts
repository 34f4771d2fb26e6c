import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageError, type StorageFailure, type StorageProvider } from '#activities/clients/storage/provider.ts';
import type { OpenedProvider } from '../kit/storage-providers.ts';

export const text = 'text/plain';
export const bytesOf = async (
  provider: StorageProvider,
  key: string,
  options?: Parameters<StorageProvider['read']>[1],
) => Buffer.concat(await (await provider.read(key, options)).stream.toArray());
export const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Pieces as a socket delivers them. */
export function piecesOf(content: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < content.length; start += 60_000) pieces.push(content.subarray(start, start + 60_000));
  return pieces;
}

export async function failureOf(work: Promise<unknown>): Promise<StorageFailure | 'no failure'> {
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

interface ProviderTraits {
  /** It signs links with the credentials of the test. */
  readonly signsLinks?: boolean;
  /** It lists folder by folder, as SeaweedFS does: `a/1` before `a-b/1`. Keys of the product have the same order both ways. */
  readonly listsByFolder?: boolean;
}

/** What every provider does. */
export function describeProvider(
  name: string,
  open: () => Promise<OpenedProvider>,
  { signsLinks = false, listsByFolder = false }: ProviderTraits = {},
): void {
  describe(`provider ${name}`, () => {
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
      const names = ['a/1', ...(listsByFolder ? [] : ['a-b/1']), 'a/2', 'b/1', 'c'];
      const keys = names.map((one) => `${prefix}${one}`);
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
}
