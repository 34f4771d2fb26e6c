import type { Readable } from 'node:stream';
import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { loadedOnce } from '#entities/kit/base/loaded-once.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { bodyBytes } from '../receiving/part-body.ts';
import { probeProvider } from './probe-provider.ts';
import {
  StorageError,
  type ObjectPage,
  type DirectUpload,
  type LinkPresentation,
  type PartBody,
  type PartsRef,
  type ReadOptions,
  type StoredPart,
  type StorageProvider,
  type WriteOptions,
} from '../provider.ts';
import {
  closeClient,
  endable,
  endedBy,
  openClient,
  signedBody,
  translated,
  versionOf,
  withHash,
  type LoadedS3,
  type S3Service,
  type TranslationOptions,
} from './s3-requests.ts';
import { signGet, signPut } from './s3-links.ts';
import { abortUploadsBefore, abortUploadsOf } from './s3-uploads.ts';
import { changed, missing, partsMissing, unlessMissing } from '../storage-failures.ts';

/** Size up to which the service copies an object with one request, and size of the parts of larger copies, in bytes. */
const maxCopyBytes = 5 * 1024 * mebibyte;
const copyPartBytes = 1024 * mebibyte;

/** Requests that delete objects at the same time. Not every service deletes several with one. */
const concurrentDeletions = 8;

/** Objects in a bucket of a service with the interface of S3. Versions are ETags. */
export class S3Provider implements StorageProvider {
  readonly partRules = { minBytes: 5 * mebibyte, maxParts: 10_000 } as const;
  readonly #bucket: string;
  readonly #service: S3Service;
  readonly #maxCopyBytes: number;
  readonly #load = loadedOnce(() => openClient(this.#service));
  /** The client that was used last; undefined before the first use. */
  #loaded: Promise<LoadedS3> | undefined;

  /** @param limits smaller than those of the service, for tests */
  constructor(bucket: string, service: S3Service, limits: { maxCopyBytes?: number } = {}) {
    this.#bucket = bucket;
    this.#service = service;
    this.#maxCopyBytes = limits.maxCopyBytes ?? maxCopyBytes;
  }

  put(key: string, body: PartBody, contentType: string, options: WriteOptions = {}): Promise<string> {
    const work = async ({ s3, client }: LoadedS3) => {
      const { stream, sha256 } = await signedBody(body, options);
      const command = new s3.PutObjectCommand({
        ...this.#at(key),
        Body: stream,
        ContentLength: bodyBytes(body),
        ContentType: contentType,
      });
      withHash(command, sha256);
      return versionOf((await client.send(command, endable(options.signal))).ETag, key);
    };
    return this.#send(`storing ${key}`, work, options);
  }

  beginParts(key: string, contentType: string, _partBytes: number): Promise<PartsRef> {
    return this.#send(`beginning ${key}`, async ({ s3, client }) => {
      const { UploadId } = await client.send(
        new s3.CreateMultipartUploadCommand({ ...this.#at(key), ContentType: contentType }),
      );
      if (!UploadId) throw new StorageError('broken', `The service named no upload of ${key}.`);
      return { key, uploadId: UploadId };
    });
  }

  putPart(ref: PartsRef, number: number, body: PartBody, options: WriteOptions = {}): Promise<string> {
    const upload = this.#uploadOf(ref);
    const work = async ({ s3, client }: LoadedS3) => {
      const { stream, sha256 } = await signedBody(body, options);
      const command = new s3.UploadPartCommand({
        ...upload,
        PartNumber: number,
        Body: stream,
        ContentLength: bodyBytes(body),
      });
      withHash(command, sha256);
      return versionOf((await client.send(command, endable(options.signal))).ETag, upload.Key);
    };
    return this.#send(`storing part ${number} of ${upload.Key}`, work, options);
  }

  finishParts(ref: PartsRef, parts: readonly StoredPart[], { signal }: WriteOptions = {}): Promise<string> {
    const upload = this.#uploadOf(ref);
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    const work = async ({ s3, client }: LoadedS3) => {
      const command = new s3.CompleteMultipartUploadCommand({
        ...upload,
        MultipartUpload: { Parts: parts.map(({ number, tag }) => ({ PartNumber: number, ETag: `"${tag}"` })) },
      });
      const completed = await client.send(command, endable(signal)).catch((error: unknown) => {
        // It was finished before: then the object is there.
        if ((error as Error).name === 'NoSuchUpload') return undefined;
        throw error;
      });
      if (completed) return versionOf(completed.ETag, upload.Key);
      const found = await this.head(upload.Key);
      if (found?.sizeBytes !== sizeBytes) throw partsMissing(upload.Key);
      return found.version;
    };
    return this.#send(`finishing ${upload.Key}`, work, { signal });
  }

  abortParts(ref: PartsRef): Promise<void> {
    const upload = this.#uploadOf(ref);
    return this.#send(
      `giving up ${upload.Key}`,
      async ({ s3, client }) => {
        await client.send(new s3.AbortMultipartUploadCommand(upload));
      },
      { withoutBucket: 'missing' },
    ).catch(unlessMissing(undefined));
  }

  read(key: string, { range, version, signal }: ReadOptions = {}): ReturnType<StorageProvider['read']> {
    return this.#send(
      `reading ${key}`,
      async ({ s3, client }) => {
        const command = new s3.GetObjectCommand({
          ...this.#at(key),
          ...(range ? { Range: `bytes=${range.first}-${range.last}` } : {}),
          ...(version === undefined ? {} : { IfMatch: `"${version}"` }),
        });
        const { Body, ETag, ContentLength, ContentRange } = await client.send(command, endable(signal));
        const stream = Body as Readable;
        const found = versionOf(ETag, key);
        const sizeBytes = Number(ContentRange?.split('/')[1] ?? ContentLength);
        const isRange = ContentRange?.startsWith(`bytes ${range?.first}-`) ?? range === undefined;
        if (isRange && (version === undefined || version === found))
          return { stream: endedBy(stream, signal), sizeBytes, version: found };
        stream.destroy();
        if (!isRange)
          throw new StorageError('broken', `The service returned other bytes of ${key} than were asked for.`);
        // A service that ignores the condition.
        throw changed(key);
      },
      { signal, withoutBucket: 'missing' },
    );
  }

  head(key: string): ReturnType<StorageProvider['head']> {
    return this.#send(`looking for ${key}`, async ({ s3, client }) => {
      const { ContentLength, ETag } = await client.send(new s3.HeadObjectCommand(this.#at(key)));
      return { sizeBytes: Number(ContentLength), version: versionOf(ETag, key) };
    }).catch(unlessMissing(undefined));
  }

  async copy(from: string, to: string, { ifVersion }: { readonly ifVersion: string }): Promise<string> {
    const found = await this.head(from);
    if (!found) throw missing(from);
    if (found.version !== ifVersion) throw changed(from);
    if (found.sizeBytes > this.#maxCopyBytes) return this.#copyInParts(from, to, { ifVersion, ...found });
    return this.#send(`copying ${from}`, async ({ s3, client }) => {
      const { CopyObjectResult } = await client.send(
        new s3.CopyObjectCommand({ ...this.#at(to), ...this.#source(from, ifVersion) }),
      );
      return versionOf(CopyObjectResult?.ETag, to);
    });
  }

  async delete(keys: readonly string[]): Promise<void> {
    await concurrently(keys, concurrentDeletions, (key) => this.#delete(key));
  }

  removeUnfinished(prefix: string, before: Date): Promise<void> {
    const where = { Bucket: this.#bucket, Prefix: prefix };
    return this.#send(`giving up old uploads of ${prefix}`, (loaded) => abortUploadsBefore(loaded, where, before));
  }

  list(prefix: string, after?: string): Promise<ObjectPage> {
    return this.#send(`listing ${prefix}`, async ({ s3, client }) => {
      const { Contents = [], IsTruncated } = await client.send(
        new s3.ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: prefix,
          ...(after === undefined ? {} : { StartAfter: after }),
        }),
      );
      const items = Contents.map(({ Key, Size, LastModified }) => ({
        key: Key ?? '',
        sizeBytes: Size ?? 0,
        modifiedAt: LastModified ?? new Date(0),
      }));
      return { items, after: IsTruncated ? items.at(-1)?.key : undefined };
    });
  }

  presignGet(key: string, presentation: LinkPresentation): Promise<string> {
    return this.#send(`signing a link to ${key}`, (loaded) => signGet(loaded, this.#at(key), presentation));
  }

  presignPut(key: string, upload: DirectUpload): ReturnType<typeof signPut> {
    return this.#send(`signing an upload of ${key}`, (loaded) => signPut(loaded, this.#at(key), upload));
  }

  probe(): Promise<void> {
    return probeProvider(this);
  }

  close(): void {
    // One that could not be opened has no connections.
    this.#loaded?.then(closeClient, () => {});
  }

  async #copyInParts(
    from: string,
    to: string,
    { ifVersion, sizeBytes }: { readonly ifVersion: string; readonly sizeBytes: number },
  ): Promise<string> {
    const ref = await this.beginParts(to, 'application/octet-stream', copyPartBytes);
    const upload = this.#uploadOf(ref);
    try {
      const partBytes = Math.min(copyPartBytes, this.#maxCopyBytes);
      const parts: StoredPart[] = [];
      for (let start = 0; start < sizeBytes; start += partBytes) {
        const number = parts.length + 1;
        const end = Math.min(start + partBytes, sizeBytes);
        const tag = await this.#send(`copying part ${number} of ${from}`, async ({ s3, client }) => {
          const { CopyPartResult } = await client.send(
            new s3.UploadPartCopyCommand({
              ...upload,
              ...this.#source(from, ifVersion),
              PartNumber: number,
              CopySourceRange: `bytes=${start}-${end - 1}`,
            }),
          );
          return versionOf(CopyPartResult?.ETag, to);
        });
        parts.push({ number, sizeBytes: end - start, tag });
      }
      return await this.finishParts(ref, parts);
    } catch (error) {
      await this.abortParts(ref);
      throw error;
    }
  }

  #delete(key: string): Promise<void> {
    return this.#send(
      `deleting ${key}`,
      async (loaded) => {
        // First, because one that is finished meanwhile makes an object.
        await abortUploadsOf(loaded, this.#at(key));
        await loaded.client.send(new loaded.s3.DeleteObjectCommand(this.#at(key)));
      },
      { withoutBucket: 'missing' },
    ).catch(unlessMissing(undefined));
  }

  #at(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: key };
  }

  #source(key: string, ifVersion: string): { readonly CopySource: string; readonly CopySourceIfMatch: string } {
    const path = [this.#bucket, ...key.split('/')].map(encodeURIComponent).join('/');
    return { CopySource: path, CopySourceIfMatch: `"${ifVersion}"` };
  }

  #uploadOf({ key, uploadId }: PartsRef): {
    readonly Bucket: string;
    readonly Key: string;
    readonly UploadId: string;
  } {
    return { ...this.#at(String(key)), UploadId: String(uploadId) };
  }

  #send<T>(doing: string, work: (loaded: LoadedS3) => Promise<T>, options?: TranslationOptions): Promise<T> {
    const loaded = this.#load();
    this.#loaded = loaded;
    return translated(doing, async () => work(await loaded), options);
  }
}
