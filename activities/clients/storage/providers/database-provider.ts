import { randomBytes } from 'node:crypto';
import { addAbortSignal, Readable } from 'node:stream';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  abandonBlob,
  beginBlob,
  chunkBytes,
  copyChunks,
  findBlob,
  finishBlob,
  listBlobs,
  readChunk,
  removeBlobs,
  writeChunks,
  type Blob,
  type BlobStage,
} from '#entities/kit/objects/blob-rows.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { bodyBytes, piecesOf } from '../receiving/part-body.ts';
import { probeProvider } from './probe-provider.ts';
import {
  StorageError,
  type ByteRange,
  type ObjectPage,
  type PartBody,
  type PartsRef,
  type ReadOptions,
  type StoredPart,
  type StorageProvider,
  type WriteOptions,
} from '../provider.ts';
import { changed, missing } from '../storage-failures.ts';

/** Maximum duration of one statement about chunks, in milliseconds. */
const timeoutMs = 30_000;

/** Chunks that are copied in one transaction. */
const chunksPerCopy = 64;

const pageSize = 1_000;

/**
 * Objects as rows of chunks in PostgreSQL. Every part, and every chunk that is read, is a transaction of its own: a connection is held
 * while bytes go to or come from PostgreSQL, not while a client sends or takes them.
 */
export class DatabaseProvider implements StorageProvider {
  /** A part is one transaction, which has to reach the disk before it is confirmed. */
  readonly partRules = { minBytes: 4 * chunkBytes, maxParts: 100_000 } as const;
  readonly #namespace: string;
  readonly #database: Pick<Database, 'transact'>;

  constructor(namespace: string, database: Pick<Database, 'transact'>) {
    this.#namespace = namespace;
    this.#database = database;
  }

  put(key: string, body: PartBody, _contentType: string, options?: WriteOptions): Promise<string> {
    const stage = this.#stage(key);
    const sizeBytes = bodyBytes(body);
    return this.#transact(async (unit) => {
      await beginBlob(unit, stage);
      await writeChunks(unit, stage, { first: 1, next: 1, chunks: chunksOf(piecesOf(body, options)) });
      const version = finished(await finishBlob(unit, stage, { sizeBytes, version: newVersion() }), key);
      options?.signal?.throwIfAborted();
      return version;
    });
  }

  async beginParts(key: string, _contentType: string, partBytes: number): Promise<PartsRef> {
    if (partBytes % chunkBytes !== 0) throw new Error(`parts of ${partBytes} bytes have no whole number of chunks`);
    const stage = this.#stage(key);
    await this.#transact((unit) => beginBlob(unit, stage));
    return { key, token: stage.token, partBytes };
  }

  putPart(ref: PartsRef, number: number, body: PartBody, options?: WriteOptions): Promise<string> {
    const stage = this.#stageOf(ref);
    const chunksPerPart = Number(ref['partBytes']) / chunkBytes;
    const first = (number - 1) * chunksPerPart + 1;
    return this.#transact(async (unit) => {
      const chunks = chunksOf(piecesOf(body, options));
      if (!(await writeChunks(unit, stage, { first, next: first + chunksPerPart, chunks }))) throw missing(stage.key);
      options?.signal?.throwIfAborted();
      return String(bodyBytes(body));
    });
  }

  finishParts(ref: PartsRef, parts: readonly StoredPart[], { signal }: WriteOptions = {}): Promise<string> {
    const stage = this.#stageOf(ref);
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    return this.#transact(async (unit) => {
      const version = finished(await finishBlob(unit, stage, { sizeBytes, version: newVersion() }), stage.key);
      signal?.throwIfAborted();
      return version;
    });
  }

  abortParts(ref: PartsRef): Promise<void> {
    return this.#transact((unit) => abandonBlob(unit, this.#stageOf(ref)));
  }

  async read(key: string, { range, version, signal }: ReadOptions = {}): ReturnType<StorageProvider['read']> {
    const found = await this.head(key);
    if (!found) throw missing(key);
    if (version !== undefined && found.version !== version) throw changed(key);
    const stream = Readable.from(this.#chunks(key, found, range), { objectMode: false, highWaterMark: 1 });
    return { stream: signal ? addAbortSignal(signal, stream) : stream, ...found };
  }

  head(key: string): ReturnType<StorageProvider['head']> {
    return this.#read((unit) => findBlob(unit, { namespace: this.#namespace, key }));
  }

  async copy(from: string, to: string, { ifVersion }: { readonly ifVersion: string }): Promise<string> {
    const found = await this.head(from);
    if (!found) throw missing(from);
    const [stage, source] = [this.#stage(to), { namespace: this.#namespace, key: from, version: ifVersion }];
    await this.#transact((unit) => beginBlob(unit, stage));
    try {
      const last = Math.max(1, Math.ceil(found.sizeBytes / chunkBytes));
      for (let first = 1; first <= last; first += chunksPerCopy) {
        const chunks = { first, next: first + chunksPerCopy };
        if (!(await this.#transact((unit) => copyChunks(unit, source, stage, chunks)))) throw changed(from);
      }
      return await this.#transact(async (unit) =>
        finished(await finishBlob(unit, stage, { sizeBytes: found.sizeBytes, version: newVersion() }), to),
      );
    } catch (error) {
      await this.#transact((unit) => abandonBlob(unit, stage));
      throw error;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#transact((unit) => removeBlobs(unit, this.#namespace, [key]));
  }

  async list(prefix: string, after = ''): Promise<ObjectPage> {
    const page = { namespace: this.#namespace, prefix, after, limit: pageSize };
    const items = await this.#read((unit) => listBlobs(unit, page));
    return { items, after: items.length === pageSize ? items.at(-1)?.key : undefined };
  }

  probe(): Promise<void> {
    return probeProvider(this);
  }

  async *#chunks(key: string, { sizeBytes, version }: Blob, range: ByteRange | undefined): AsyncGenerator<Buffer> {
    const end = Math.min(sizeBytes, range ? range.last + 1 : sizeBytes);
    for (let position = range?.first ?? 0; position < end;) {
      const start = position % chunkBytes;
      const part = {
        number: Math.floor(position / chunkBytes) + 1,
        start,
        length: Math.min(chunkBytes - start, end - position),
      };
      const content = await this.#read((unit) => readChunk(unit, { namespace: this.#namespace, key, version }, part));
      if (content?.length !== part.length) throw changed(key);
      yield content;
      position += content.length;
    }
  }

  #stage(key: string): BlobStage {
    return { namespace: this.#namespace, key, token: newVersion() };
  }

  #stageOf({ key, token }: PartsRef): BlobStage {
    return { namespace: this.#namespace, key: String(key), token: String(token) };
  }

  #read<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#transact(work, true);
  }

  async #transact<T>(work: (unit: UnitOfWork) => Promise<T>, readOnly = false): Promise<T> {
    const caller = systemCaller('object chunks');
    const context = { caller, requestId: `objects-${newId()}`, readOnly, deadline: Date.now() + timeoutMs };
    try {
      return await this.#database.transact(context, work);
    } catch (error) {
      if (!isAppError(error)) throw error;
      const isFull = (error.cause as { readonly code?: unknown } | undefined)?.code === diskFull;
      throw new StorageError(isFull ? 'full' : 'unavailable', error.message, { cause: error });
    }
  }
}

/** Code of PostgreSQL. */
const diskFull = '53100';

/** Joins and cuts bytes into chunks of one size. */
async function* chunksOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    let rest = piece;
    while (size + rest.length >= chunkBytes) {
      const taken = chunkBytes - size;
      yield Buffer.concat([...held, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      [held, size] = [[], 0];
    }
    if (rest.length === 0) continue;
    held.push(rest);
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(held);
}

function finished(outcome: Blob | 'missing' | 'broken', key: string): string {
  if (outcome === 'missing') throw missing(key);
  if (outcome === 'broken')
    throw new StorageError('broken', `The chunks of ${key} are not those of the parts that were stored.`);
  return outcome.version;
}

function newVersion(): string {
  return randomBytes(12).toString('hex');
}
