import { randomBytes } from 'node:crypto';
import { addAbortSignal } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Bucket, File, GetFilesResponse, Storage } from '@google-cloud/storage';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { loadedOnce } from '#entities/kit/base/loaded-once.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { translated } from './cloud-failures.ts';
import { signGet, signingOf, signPut, type Signing } from './cloud-links.ts';
import { readBody } from '../receiving/part-body.ts';
import { probeProvider } from './probe-provider.ts';
import {
  StorageError,
  type DirectUpload,
  type LinkPresentation,
  type ListedObject,
  type ObjectPage,
  type PartBody,
  type PartsRef,
  type ReadOptions,
  type StoredPart,
  type StorageProvider,
  type WriteOptions,
} from '../provider.ts';
import { changed, missing, partsMissing, unlessMissing } from '../storage-failures.ts';
import { partPrefix } from '../receiving/upload-keys.ts';

interface CloudService {
  /** URL of an emulator; empty: the public service, with the credentials of the environment. */
  readonly endpoint: string;
  /** Project to which the requests are charged; empty: that of the bucket. */
  readonly projectId: string;
  readonly clock?: Clock;
  /** Called with the reason when links cannot be signed for a while. */
  readonly onNoCredentials?: ((error: unknown) => void) | undefined;
}

/** Time after which credentials that were not found are looked for again, in milliseconds. */
const noCredentialsMs = 60_000;

/** Objects that the service joins with one request. */
const maxJoined = 32;

const pageSize = 1_000;

/** Requests of one kind that are sent at the same time. */
const concurrent = 8;

/**
 * Objects in a bucket of Google Cloud Storage. Versions are generations. A part is an object of its own, and parts are joined by the
 * service: a resumable upload of the service belongs to one writer, and no other process can safely continue it.
 */
export class CloudProvider implements StorageProvider {
  readonly partRules = { minBytes: 8 * mebibyte, maxParts: 10_000 } as const;
  readonly #bucket: string;
  readonly #service: CloudService;
  readonly #opened = loadedOnce(() => this.#open());
  #signing: { readonly found: Promise<Signing>; untilMs: number } | undefined;

  constructor(bucket: string, service: CloudService) {
    this.#bucket = bucket;
    this.#service = service;
  }

  put(key: string, body: PartBody, contentType: string, options: WriteOptions = {}): Promise<string> {
    return this.#send(`storing ${key}`, async ({ bucket }) => {
      const file = bucket.file(key);
      // The library compares the checksum that the service returns with that of the bytes it sent.
      const target = file.createWriteStream({ resumable: false, contentType, validation: 'crc32c' });
      await pipeline(readBody(body, options), target, options.signal ? { signal: options.signal } : {});
      return generationOf(file, key);
    });
  }

  async beginParts(key: string, contentType: string, partBytes: number): Promise<PartsRef> {
    return { key, contentType, partBytes, id: randomBytes(8).toString('hex') };
  }

  putPart(ref: PartsRef, number: number, body: PartBody, options?: WriteOptions): Promise<string> {
    return this.put(partKey(ref, number), body, 'application/octet-stream', options);
  }

  async finishParts(ref: PartsRef, parts: readonly StoredPart[], options: WriteOptions = {}): Promise<string> {
    const key = String(ref['key']);
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    // Asked first, because the emulator answers 500 for parts that do not exist.
    const hasParts = (await this.head(partKey(ref, 1))) !== undefined;
    const joined = hasParts ? await this.#join(ref, parts, options).catch(unlessMissing(undefined)) : undefined;
    // They were joined before, and then removed.
    const found = joined === undefined ? await this.head(key) : { sizeBytes, version: joined };
    if (found?.sizeBytes !== sizeBytes) throw partsMissing(key);
    await this.#deletePrefix(prefixOf(ref), options);
    return found.version;
  }

  async abortParts(ref: PartsRef): Promise<void> {
    await this.#deletePrefix(prefixOf(ref));
  }

  async read(key: string, { range, version, signal }: ReadOptions = {}): ReturnType<StorageProvider['read']> {
    const found = await this.head(key);
    if (!found) throw missing(key);
    if (version !== undefined && found.version !== version) throw changed(key);
    return this.#send(`reading ${key}`, async ({ bucket }) => {
      const bounds = range ? { start: range.first, end: range.last } : {};
      // The service refuses every range of an object without bytes.
      const stream = bucket
        .file(key, { generation: found.version })
        .createReadStream({ ...bounds, validation: false, decompress: false });
      return { stream: signal ? addAbortSignal(signal, stream) : stream, ...found };
    });
  }

  head(key: string): ReturnType<StorageProvider['head']> {
    return this.#send(`looking for ${key}`, async ({ bucket }) => {
      const [{ size, generation }] = await bucket.file(key).getMetadata();
      return { sizeBytes: Number(size), version: String(generation) };
    }).catch(unlessMissing(undefined));
  }

  async copy(from: string, to: string, { ifVersion }: { readonly ifVersion: string }): Promise<string> {
    const found = await this.head(from);
    if (!found) throw missing(from);
    if (found.version !== ifVersion) throw changed(from);
    return this.#send(`copying ${from}`, async ({ bucket }) => {
      const [copied] = await bucket.file(from, { generation: ifVersion }).copy(bucket.file(to));
      await copied.getMetadata();
      return generationOf(copied, to);
    }).catch((error: unknown) => {
      // That generation was replaced meanwhile.
      if (error instanceof StorageError && error.failure === 'missing') throw changed(from);
      throw error;
    });
  }

  async delete(keys: readonly string[]): Promise<void> {
    await concurrently(keys, concurrent, async (key) => {
      await this.#deleteOne(key);
      await this.#deletePrefix(partPrefix(key));
    });
  }

  list(prefix: string, after?: string): Promise<ObjectPage> {
    return this.#send(`listing ${prefix}`, async ({ bucket }) => {
      // The page begins with the object itself, if it still exists.
      const from = after === undefined ? {} : { startOffset: after };
      let query: object | null = { prefix, ...from, maxResults: pageSize, autoPaginate: false };
      const items: ListedObject[] = [];
      // A page may have fewer objects than were asked for, or none, and yet be followed by another one.
      while (query && items.length === 0) {
        const [files, next]: GetFilesResponse = await bucket.getFiles(query);
        const found = files.map(({ name, metadata }) => ({
          key: name,
          sizeBytes: Number(metadata.size),
          modifiedAt: new Date(metadata.updated ?? 0),
        }));
        items.push(...found.filter(({ key }) => after === undefined || key > after));
        query = next;
      }
      return { items, after: query ? items.at(-1)?.key : undefined };
    });
  }

  presignGet(key: string, presentation: LinkPresentation): Promise<string | undefined> {
    return this.#send(`signing a link to ${key}`, async ({ storage, bucket }) => {
      const signing = await this.#signingOf(storage);
      const isPossible = signing === 'key' || (signing === 'request' && presentation.mayRequest);
      return isPossible ? signGet(bucket.file(key), presentation, this.#service.endpoint) : undefined;
    });
  }

  presignPut(
    key: string,
    upload: DirectUpload,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined> {
    return this.#send(`signing an upload of ${key}`, async ({ storage, bucket }) =>
      (await this.#signingOf(storage)) === 'key' ? signPut(bucket.file(key), upload) : undefined,
    );
  }

  probe(): Promise<void> {
    return probeProvider(this);
  }

  /** Joins parts, in rounds while there are more than the service joins at once. */
  async #join(ref: PartsRef, parts: readonly StoredPart[], options: WriteOptions): Promise<string> {
    let sources = parts.map(({ number, tag }) => ({ key: partKey(ref, number), version: tag }));
    for (let round = 1; sources.length > maxJoined; round += 1) {
      const groups = Array.from({ length: Math.ceil(sources.length / maxJoined) }, (_, index) => ({
        key: `${prefixOf(ref)}joined-${round}-${index}`,
        sources: sources.slice(index * maxJoined, (index + 1) * maxJoined),
      }));
      const joined = new Map<string, string>();
      await concurrently(groups, concurrent, async (group) => {
        options.signal?.throwIfAborted();
        joined.set(group.key, await this.#compose(group.key, group.sources, 'application/octet-stream'));
        options.onProgress?.();
      });
      sources = groups.map(({ key }) => ({ key, version: joined.get(key) ?? '' }));
    }
    return this.#compose(String(ref['key']), sources, String(ref['contentType']));
  }

  #compose(
    key: string,
    sources: readonly { readonly key: string; readonly version: string }[],
    contentType: string,
  ): Promise<string> {
    return this.#send(`joining the parts of ${key}`, async ({ bucket }) => {
      const target = bucket.file(key);
      target.metadata.contentType = contentType;
      await bucket.combine(
        sources.map((source) => bucket.file(source.key, { generation: source.version })),
        target,
      );
      await target.getMetadata();
      return generationOf(target, key);
    });
  }

  async #deletePrefix(prefix: string, options: WriteOptions = {}): Promise<void> {
    const keys = await this.#send(`listing ${prefix}`, async ({ bucket }) => {
      const [files] = await bucket.getFiles({ prefix });
      return files.map(({ name }) => name);
    });
    await concurrently(keys, concurrent, async (key) => {
      options.signal?.throwIfAborted();
      await this.#deleteOne(key);
      options.onProgress?.();
    });
  }

  #deleteOne(key: string): Promise<void> {
    return this.#send(`deleting ${key}`, async ({ bucket }) => {
      await bucket.file(key).delete();
    }).catch(unlessMissing(undefined));
  }

  /** Found out once, after a failure again a minute later: a link is to cause no request, also where there are no credentials. */
  #signingOf(storage: Storage): Promise<Signing> {
    const { clock = systemClock, onNoCredentials } = this.#service;
    if (this.#signing && clock.now().getTime() < this.#signing.untilMs) return this.#signing.found;
    const found = signingOf(storage).catch((error: unknown): Signing => {
      signing.untilMs = clock.now().getTime() + noCredentialsMs;
      onNoCredentials?.(error);
      return 'none';
    });
    const signing = { found, untilMs: Infinity };
    this.#signing = signing;
    return found;
  }

  #send<T>(
    doing: string,
    work: (opened: { readonly storage: Storage; readonly bucket: Bucket }) => Promise<T>,
  ): Promise<T> {
    return translated(doing, async () => work(await this.#opened()));
  }

  /** The package is loaded where the service is used, and again after a failure. */
  async #open(): Promise<{ readonly storage: Storage; readonly bucket: Bucket }> {
    const { Storage: Client } = await import('@google-cloud/storage');
    const { endpoint, projectId } = this.#service;
    const storage = new Client({
      ...(endpoint === '' ? {} : { apiEndpoint: endpoint }),
      ...(projectId === '' ? {} : { projectId }),
      // Callers that hold the bytes try again.
      retryOptions: { maxRetries: 2, totalTimeout: 30 },
    });
    return { storage, bucket: storage.bucket(this.#bucket, projectId === '' ? {} : { userProject: projectId }) };
  }
}

function prefixOf({ key, id }: PartsRef): string {
  return partPrefix(String(key), String(id));
}

function partKey(ref: PartsRef, number: number): string {
  return `${prefixOf(ref)}${String(number).padStart(6, '0')}`;
}

function generationOf({ metadata }: File, key: string): string {
  if (metadata.generation !== undefined) return String(metadata.generation);
  throw new StorageError('broken', `The service named no generation of ${key}.`);
}
