import type { Readable } from 'node:stream';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { acceptedTypes, maxBytesOf, type AcceptedFiles } from '#entities/kit/model/files/accepted-types.ts';
import { maxFormFiles, type Location, type Measured } from '#entities/kit/objects/stored-object.ts';
import type { UploadOwner } from '#entities/kit/objects/upload-owner.ts';
import type { UploadProgress } from '#entities/kit/objects/upload-rows.ts';
import { checkDeclaredType } from '../file-types/detect-type.ts';
import { FileTypes, type MimeSettings } from '../file-types/file-types.ts';
import { MemoryBudget } from './memory-budget.ts';
import { Measurement, tooLarge, type ExpectedFile, type FileLimits } from './measurement.ts';
import type { ObjectStorage } from '../object-storage.ts';
import type { StorageSettings } from '../providers/open-provider.ts';
import { StorageError } from '../provider.ts';
import { confirm, receive, type ReceiveContext } from './receive.ts';
import { resumeReceiving, type ResumableState } from './resume-receiving.ts';
import { incomingKey, tailKey } from './upload-keys.ts';

interface FileReceiverOptions {
  readonly storage: ObjectStorage;
  readonly settings: () => StorageSettings;
  readonly mime: () => MimeSettings;
  readonly folder: string;
  readonly stallTimeoutMs: () => number;
  readonly onBackgroundError: (error: unknown, doing: string) => void;
}

/** An object that is to be stored, and whose upload it is. */
export interface Target {
  readonly location: Location;
  readonly owner: UploadOwner;
}

/** Receives the files of one process, which share one budget of memory and temporary files. */
export class FileReceiver {
  readonly #storage: ObjectStorage;
  readonly #settings: () => StorageSettings;
  readonly #context: Omit<ReceiveContext, 'budget'>;
  readonly #budget: MemoryBudget;

  /** @throws ConfigurationError when `server.mime.mimetypesfile` cannot be read */
  constructor({ storage, settings, mime, ...context }: FileReceiverOptions) {
    this.#storage = storage;
    this.#settings = settings;
    this.#budget = new MemoryBudget(() => settings().maxmemorymb * mebibyte);
    this.#context = { ...context, types: new FileTypes(mime) };
  }

  get usage(): MemoryBudget['usage'] {
    return this.#budget.usage;
  }

  /** Maximum size of a file in bytes. */
  get maxBytes(): number {
    return this.#settings().maxsizemb * mebibyte;
  }

  /** Maximum size of all files together that one caller has uploaded and no record uses: as much as one form has. */
  get maxUnusedBytes(): number {
    return maxFormFiles * this.maxBytes;
  }

  /** Accepted types of a file for a field; undefined: for one that is not known yet. */
  limitsOf(rule: AcceptedFiles | undefined): FileLimits {
    if (!rule) return { maxBytes: this.maxBytes };
    return { maxBytes: Math.min(maxBytesOf(rule), this.maxBytes), accept: acceptedTypes(rule) };
  }

  /** Refuses a file before its first byte, as far as its client has said what it is. @throws AppError body_too_large, file_type_refused */
  checkDeclared(declared: Omit<ExpectedFile, 'sha256'>, { maxBytes, accept }: FileLimits): void {
    if ((declared.sizeBytes ?? 0) > maxBytes) throw tooLarge(maxBytes);
    if (accept) checkDeclaredType(declared, this.#context.types, accept);
  }

  newLocation(organizationId: string | null): Promise<Location> {
    return this.#storage.newLocation(organizationId);
  }

  receive(
    source: Readable,
    { location, owner }: Target,
    expected: ExpectedFile,
    limits: FileLimits,
  ): Promise<Measured & { readonly version: string }> {
    const target = { provider: this.#storage.providerFor(location), key: location.key };
    return receive(source, target, expected, limits, this.#contextOf(owner));
  }

  /** Stores the bytes of an upload that are checked later. */
  async receiveIncoming(
    source: Readable,
    { location, owner }: Target,
    { name, sizeBytes }: Pick<ExpectedFile, 'name' | 'sizeBytes'>,
  ): Promise<void> {
    const provider = this.#storage.providerFor(location);
    await receive(
      source,
      { provider, key: incomingKey(location.key), isRepeatable: true },
      { name, sizeBytes },
      { maxBytes: sizeBytes ?? this.maxBytes },
      this.#contextOf(owner),
    );
  }

  /** A link with which anybody stores the bytes of an upload that are checked later; undefined where the provider has none, or signs none now. */
  async linkToStore(
    location: Location,
    {
      sizeBytes,
      type,
      expiresInSeconds,
    }: { readonly sizeBytes: number; readonly type?: string | undefined; readonly expiresInSeconds: number },
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined> {
    const contentType = type ?? 'application/octet-stream';
    const provider = this.#storage.providerFor(location);
    try {
      return await provider.presignPut?.(incomingKey(location.key), { expiresInSeconds, sizeBytes, contentType });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // Without credentials that sign, the bytes come to this server.
      this.#context.onBackgroundError(error, `signing a link for an upload to ${location.provider}`);
      return undefined;
    }
  }

  resume(
    source: Readable,
    { location, owner }: Target,
    state: ResumableState,
    save: (progress: UploadProgress) => Promise<void>,
  ): ReturnType<typeof resumeReceiving> {
    const target = { provider: this.#storage.providerFor(location), key: location.key };
    return resumeReceiving(source, target, state, save, this.#contextOf(owner));
  }

  /**
   * Measures what arrived for an upload, and copies exactly the bytes that were read to the key of the object.
   * @throws AppError for bytes that are refused; StorageError, `changed` when they were replaced meanwhile
   */
  async check(
    location: Location,
    expected: ExpectedFile,
    { maxBytes, accept }: FileLimits,
    signal: AbortSignal,
  ): Promise<Measured & { readonly version: string }> {
    const provider = this.#storage.providerFor(location);
    const from = incomingKey(location.key);
    const { stream, version, sizeBytes } = await provider.read(from, { signal });
    const measurement = new Measurement(
      expected,
      { maxBytes: Math.min(expected.sizeBytes ?? maxBytes, maxBytes), accept },
      this.#context.types,
    );
    if (sizeBytes > measurement.maxBytes) {
      stream.destroy();
      throw tooLarge(measurement.maxBytes);
    }
    for await (const piece of stream) await measurement.add(piece as Buffer);
    const measured = await measurement.finish();
    const copied = await provider.copy(from, location.key, { ifVersion: version });
    await confirm(provider, location.key, { ...measured, version: copied }, signal);
    failpoint('check-copied');
    return { ...measured, version: copied };
  }

  /** Removes what arrived for an upload that needs it no more. */
  async removeIncoming(location: Location): Promise<void> {
    const { key } = location;
    await this.#storage.providerFor(location).delete([incomingKey(key), tailKey(key)]);
  }

  #contextOf({ organizationId, actor }: UploadOwner): ReceiveContext {
    return { ...this.#context, budget: this.#budget.shareOf(organizationId ?? actor) };
  }
}
