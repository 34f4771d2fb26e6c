import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Bytes of one request: pieces as they arrived, never joined, or a part of an open file, without the byte at `end`. */
export type PartBody = readonly Buffer[] | { readonly file: FileHandle; readonly start: number; readonly end: number };

/** An upload in parts as a provider knows it; JSON, so that any process can continue with it. */
export type PartsRef = Readonly<Record<string, string | number>>;

export interface StoredPart {
  /** From 1. */
  readonly number: number;
  readonly sizeBytes: number;
  /** Name at the provider: an ETag or a generation. */
  readonly tag: string;
}

/** First and last byte, both included, as in the header Range. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** How a link to the provider itself presents the file. */
export interface LinkPresentation {
  readonly expiresInSeconds: number;
  readonly contentType: string;
  /** Value of the header Content-Disposition. */
  readonly disposition: string;
  /** Whether signing may be a request, where the credentials have no private key. */
  readonly mayRequest?: boolean;
}

export interface ReadOptions {
  readonly range?: ByteRange;
  /** Bytes of this version only, else `changed`. */
  readonly version?: string;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  /** Ends the writing. Bytes that the provider has taken by then may stay, until its key is deleted. */
  readonly signal?: AbortSignal;
  /** Called with bytes that were taken, and with steps that were done. */
  readonly onProgress?: () => void;
}

/** Request with which a client uploads to the provider itself. */
export interface DirectUpload {
  readonly expiresInSeconds: number;
  readonly sizeBytes: number;
  readonly contentType: string;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
}

export interface ObjectPage {
  readonly items: readonly ListedObject[];
  /** Where the next page begins; undefined for the last one. */
  readonly after: string | undefined;
}

/**
 * One bucket of one provider of object storage. Keys are ours, never a client's. Every method throws `StorageError`. A write is durable
 * when its promise resolves.
 */
export interface StorageProvider {
  /** All parts of an object but its last have the same size. */
  readonly partRules: { readonly minBytes: number; readonly maxParts: number };
  /** Stores a whole object with one request. @returns its version */
  put(key: string, body: PartBody, contentType: string, options?: WriteOptions): Promise<string>;
  beginParts(key: string, contentType: string, partBytes: number): Promise<PartsRef>;
  /** Stores a part; another one with the same number is replaced. @returns its tag */
  putPart(ref: PartsRef, number: number, body: PartBody, options?: WriteOptions): Promise<string>;
  /** Makes the object of its parts. It can be repeated. @returns the version of the object */
  finishParts(ref: PartsRef, parts: readonly StoredPart[], options?: WriteOptions): Promise<string>;
  /** Removes the parts of an upload that is given up; nothing happens if there are none. */
  abortParts(ref: PartsRef): Promise<void>;
  /** The object, or a range of it, whose first byte exists. @returns `sizeBytes` of the whole object */
  read(
    key: string,
    options?: ReadOptions,
  ): Promise<{ readonly stream: Readable; readonly sizeBytes: number; readonly version: string }>;
  /** A short range at once, where that takes less than a stream. All of it is in memory. */
  readShort?(key: string, options: { readonly range: ByteRange; readonly version: string }): Promise<Buffer>;
  /** @returns undefined for an object that does not exist */
  head(key: string): Promise<{ readonly sizeBytes: number; readonly version: string } | undefined>;
  /** Copies within the bucket what is of the version, else `changed`. @returns the version of the copy */
  copy(from: string, to: string, options: { readonly ifVersion: string }): Promise<string>;
  /** Objects that do not exist are no error. */
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Removes unfinished writes of keys with this prefix that nobody has continued since; absent where the provider ends them itself. Objects
   * stay.
   */
  removeUnfinished?(prefix: string, before: Date): Promise<void>;
  /** Objects whose key begins with the prefix, in the order of their keys, page by page. */
  list(prefix: string, after?: string): Promise<ObjectPage>;
  /**
   * A link with which anybody reads the object until it expires. It is computed and causes no request, unless it may.
   * @returns undefined where the credentials can sign nothing so
   */
  presignGet?(key: string, presentation: LinkPresentation): Promise<string | undefined>;
  /** A link with which anybody stores bytes of this size and type under the key, computed likewise; undefined as above. */
  presignPut?(
    key: string,
    upload: DirectUpload,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined>;
  /** Writes an object, reads it back and deletes it. */
  probe(): Promise<void>;
  /** Ends connections that nobody uses; requests and streams that are under way end theirs when they end. */
  close?(): void;
}

/**
 * Why a provider did not do what it was asked: it cannot be reached or is overloaded; the object does not exist; it is of another
 * version; there is no room left; what it returned is not what was stored.
 */
export type StorageFailure = 'unavailable' | 'missing' | 'changed' | 'full' | 'broken';

/** An expected failure of a provider. The message names no credential and no signed URL. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly failure: StorageFailure;

  constructor(failure: StorageFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}
