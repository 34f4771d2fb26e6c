// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { DiskProvider } from '#activities/clients/storage/providers/disk-provider.ts';
import { FileTypes } from '#activities/clients/storage/file-types/file-types.ts';
import { MemoryBudget } from '#activities/clients/storage/receiving/memory-budget.ts';
import { StorageError, type StorageProvider } from '#activities/clients/storage/provider.ts';
import { receive, type ReceiveContext } from '#activities/clients/storage/receiving/receive.ts';
import { resumeReceiving } from '#activities/clients/storage/receiving/resume-receiving.ts';
import { incomingKey, tailKey } from '#activities/clients/storage/receiving/upload-keys.ts';
import { fileName } from '#entities/kit/base/file-name.ts';
import { eventually } from '../kit/eventually.ts';
import { shows } from '../kit/shows.ts';

const mebibyte = 1_048_576;
const mime = { enabled: true, mimetypesfile: '', defaultcontenttype: 'application/octet-stream' };
const types = new FileTypes(() => mime);

const root = mkdtempSync(join(tmpdir(), 'core-receiving-'));
const disk = new DiskProvider(join(root, 'files'));
afterAll(() => rm(root, { recursive: true, force: true }));

interface Context extends ReceiveContext {
  /** All of it; `budget` is the share of the organization that uploads. */
  readonly whole: MemoryBudget;
}

function contextOf(memoryBytes = 64 * mebibyte, stallTimeoutMs = 600_000): Context {
  const whole = new MemoryBudget(() => memoryBytes);
  return {
    whole,
    budget: whole.shareOf('organization'),
    folder: join(root, 'uploads'),
    types,
    stallTimeoutMs: () => stallTimeoutMs,
    onBackgroundError: () => {},
  };
}

function* cut(content: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let start = 0; start < content.length; start += pieceBytes)
    yield Buffer.from(content.subarray(start, start + pieceBytes));
}

let number = 0;
function receiveContent(
  content: Buffer,
  {
    pieceBytes = 65_536,
    name = 'content.bin',
    maxBytes = 100 * mebibyte,
    context = contextOf(),
    ...more
  }: {
    readonly pieceBytes?: number;
    readonly name?: string;
    readonly maxBytes?: number;
    readonly context?: ReceiveContext;
    readonly sizeBytes?: number;
    readonly sha256?: Buffer;
    readonly provider?: StorageProvider;
    readonly source?: Readable;
  } = {},
) {
  const key = `test/o/${number++}`;
  const {
    provider = disk,
    source = Readable.from(cut(content, pieceBytes), { objectMode: false }),
    ...expected
  } = more;
  return { key, done: receive(source, { provider, key }, { name, ...expected }, { maxBytes }, context) };
}

async function stored(key: string): Promise<Buffer> {
  return Buffer.concat(await (await disk.read(key)).stream.toArray());
}

/** Files of uploads that are not complete. */
async function leftovers(): Promise<string[]> {
  const folders = [join(root, 'files', '.incoming'), join(root, 'uploads')];
  return (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat();
}

/** The real provider, with some of its methods changed. */
function changed(changes: Partial<StorageProvider>): StorageProvider {
  return new Proxy<StorageProvider>(disk, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('received bytes', () => {
  const part = 4 * mebibyte;
  for (const sizeBytes of [1, 65_536, part - 1, part, part + 1, 3 * part, 3 * part + 17])
    test(`${sizeBytes} bytes are stored as they were sent, and measured`, async () => {
      const content = randomBytes(sizeBytes);
      const context = contextOf();
      const { key, done } = receiveContent(content, { context, pieceBytes: 50_000 });
      const measured = await done;
      const sha256 = createHash('sha256').update(content).digest();
      expect(measured).toMatchObject({ sizeBytes, sha256 });
      expect((await stored(key)).equals(content)).toBe(true);
      expect(await disk.head(key)).toEqual({ sizeBytes, version: measured.version });
      expect(context.whole.usage).toMatchObject({ memory: 0, files: 0 });
    });

  test('single bytes are collected, so that they cost no more memory than others', async () => {
    const content = randomBytes(200_000);
    const context = contextOf();
    const { key, done } = receiveContent(content, { context, pieceBytes: 1 });
    await done;
    expect((await stored(key)).equals(content)).toBe(true);
    expect(context.whole.usage.peak).toBe(4 * 65_536);
  });

  test('objectstorage.maxmemorymb: what exceeds the memory goes to temporary files, which are bounded, too', async () => {
    shows('objectstorage.maxmemorymb');
    const context = contextOf(mebibyte);
    const contents = Array.from({ length: 12 }, () => randomBytes(5 * mebibyte));
    const uploads = contents.map((content) => receiveContent(content, { context }));
    await Promise.all(uploads.map(({ done }) => done));
    for (const [index, { key }] of uploads.entries())
      expect((await stored(key)).equals(contents[index] as Buffer)).toBe(true);
    const { memory, files, peak, filesMade } = context.whole.usage;
    expect({ memory, files }).toEqual({ memory: 0, files: 0 });
    expect(peak).toBeLessThanOrEqual(mebibyte);
    expect(filesMade).toBeGreaterThan(0);
    expect(await leftovers()).toEqual([]);
  });
});

test('objectstorage.maxmemorymb: what earlier requests left of resumed uploads is read as there is room for it', async () => {
  const memoryBytes = mebibyte;
  const context = contextOf(memoryBytes);
  const never = new AbortController();
  await context.whole.shareOf('another').takeFile(8 * mebibyte, never.signal);
  let pulled = 0;
  const provider = changed({
    read: async (...given) => {
      const found = await disk.read(...given);
      const counted = (async function* () {
        for await (const piece of found.stream) {
          pulled += (piece as Buffer).length;
          yield piece as Buffer;
        }
      })();
      return { ...found, stream: Readable.from(counted, { objectMode: false }) };
    },
  });
  const tailBytes = 4 * mebibyte - 1;
  const uploads = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const key = `test/o/${number++}`;
      const content = randomBytes(tailBytes + 1);
      await disk.put(tailKey(key), [content.subarray(0, tailBytes)], '');
      const state = { sizeBytes: content.length, received: tailBytes, tailBytes, parts: [], partsRef: null };
      const source = Readable.from([content.subarray(tailBytes)], { objectMode: false });
      return { key, content, done: resumeReceiving(source, { provider, key }, state, async () => {}, context) };
    }),
  );
  await eventually(async () => context.whole.usage.waiting === uploads.length);
  // Each may have some pieces in its stream, and one in its hands.
  expect(pulled).toBeLessThanOrEqual(memoryBytes + uploads.length * mebibyte);
  context.whole.shareOf('another').giveBackFile(8 * mebibyte);
  for (const { key, content, done } of uploads) {
    expect(await done).toEqual({ isComplete: true, received: content.length });
    expect((await stored(incomingKey(key))).equals(content)).toBe(true);
  }
  expect(context.whole.usage).toMatchObject({ memory: 0, files: 0 });
});

describe('a refused upload leaves nothing', () => {
  const content = randomBytes(9 * mebibyte);
  const refused = async ({ key, done }: { key: string; done: Promise<unknown> }, code: string) => {
    await expect(done).rejects.toMatchObject({ code });
    expect(await disk.head(key)).toBeUndefined();
    expect(await leftovers()).toEqual([]);
  };

  test('one byte more than the limit', () =>
    refused(receiveContent(content, { maxBytes: content.length - 1 }), 'body_too_large'));
  test('an empty file', () => refused(receiveContent(Buffer.alloc(0)), 'invalid_input'));
  test('another length than was announced', () =>
    refused(receiveContent(content, { sizeBytes: content.length + 1 }), 'checksum_mismatch'));
  test('another hash than was announced', () =>
    refused(receiveContent(content, { sha256: randomBytes(32) }), 'checksum_mismatch'));

  test('a source that breaks off', async () => {
    const source = Readable.from(
      (function* () {
        yield* cut(content, 65_536);
        throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      })(),
      { objectMode: false },
    );
    await refused(receiveContent(content, { source }), 'ECONNRESET');
  });

  test('a source that breaks off while it waits for room', async () => {
    const context = contextOf(mebibyte);
    const never = new AbortController();
    await context.whole.shareOf('another').takeFile(8 * mebibyte, never.signal);
    const source = new Readable({ read() {} });
    source.push(content);
    const { done } = receiveContent(content, { source, context });
    setImmediate(() => source.destroy(Object.assign(new Error('gone'), { code: 'ECONNRESET' })));
    await expect(done).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(context.whole.usage).toMatchObject({ memory: 0, files: 8 * mebibyte });
  });
});

describe('a provider that fails', () => {
  const content = randomBytes(9 * mebibyte);
  const failing = (times: number, error: Error) => {
    let failures = 0;
    return changed({
      putPart: async (...given) => {
        if (failures++ < times) throw error;
        return disk.putPart(...given);
      },
    });
  };

  test('for the moment is asked again', async () => {
    const provider = failing(2, new StorageError('unavailable', 'slow down'));
    const { key, done } = receiveContent(content, { provider });
    await done;
    expect((await stored(key)).equals(content)).toBe(true);
  });

  for (const [name, provider] of [
    ['again and again', failing(99, new StorageError('unavailable', 'slow down'))],
    ['because it is full', failing(1, new StorageError('full', 'no space'))],
    [
      'and has another version than it said',
      changed({ head: async () => ({ sizeBytes: content.length, version: 'x' }) }),
    ],
    ['and has less bytes than it took', changed({ head: async () => ({ sizeBytes: 1, version: 'x' }) })],
  ] as const)
    test(`${name}: the file is refused, to be sent again later`, async () => {
      const { done } = receiveContent(content, { provider });
      await expect(done).rejects.toMatchObject({ code: 'storage_unavailable', details: { retryAfterSeconds: 5 } });
      expect(await leftovers()).toEqual([]);
    });
});

describe('a provider that answers after an upload was given up', () => {
  /** Is aborted right after it was asked for the first time. */
  const abortedWhenAsked = () => {
    const given = new AbortController();
    const { signal } = given;
    const ask = signal.throwIfAborted.bind(signal);
    signal.throwIfAborted = () => {
      ask();
      given.abort(new Error('given up'));
    };
    return signal;
  };

  test('a disk that was synchronizing makes no object then', async () => {
    const key = `test/o/${number++}`;
    await expect(disk.put(key, [randomBytes(100)], '', { signal: abortedWhenAsked() })).rejects.toThrow('given up');
    const ref = await disk.beginParts(key, '', 4 * mebibyte);
    const tag = await disk.putPart(ref, 1, [randomBytes(100)]);
    const signal = AbortSignal.abort(new Error('given up'));
    await expect(disk.finishParts(ref, [{ number: 1, sizeBytes: 100, tag }], { signal })).rejects.toThrow('given up');
    await disk.abortParts(ref);
    expect(await disk.head(key)).toBeUndefined();
    expect(await leftovers()).toEqual([]);
  });

  test('removing does not delete what a repetition of the request has stored', async () => {
    const key = `test/o/${number++}`;
    const content = randomBytes(100);
    const storing = Promise.withResolvers<string>();
    const removal = Promise.withResolvers<void>();
    const removed: Promise<void>[] = [];
    const stalled = changed({
      put: () => storing.promise,
      delete: (keys) => {
        const late = removal.promise.then(() => disk.delete(keys));
        removed.push(late);
        return late;
      },
    });
    const attempt = (provider: StorageProvider, context: ReceiveContext) =>
      receive(
        Readable.from([Buffer.from(content)], { objectMode: false }),
        { provider, key, isRepeatable: true },
        { name: 'content.bin' },
        { maxBytes: 1_000 },
        context,
      );
    await expect(attempt(stalled, contextOf(mebibyte, 50))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await attempt(disk, contextOf());
    removal.resolve();
    await Promise.all(removed);
    expect((await stored(key)).equals(content)).toBe(true);
  });
});

describe('the name', () => {
  for (const [given, kept] of [
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['  a.txt. . ', 'a.txt'],
    ['e\u0301.txt', '\u00E9.txt'],
    ['\u{1F468}\u200D\u{1F469}.png', '\u{1F468}\u200D\u{1F469}.png'],
  ] as const)
    test(`${JSON.stringify(given)} is kept as ${kept}`, () => expect(fileName(given)).toBe(kept));

  for (const given of ['', '..', 'a/', 'a\0.txt', 'a\r\nb.txt', 'gpj.\u202Eexe', 'a'.repeat(256), '\uD800'])
    test(`${JSON.stringify(given).slice(0, 20)} is refused`, () =>
      expect(() => fileName(given)).toThrow(expect.objectContaining({ code: 'invalid_input' })));
});
