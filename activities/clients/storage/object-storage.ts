import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '#entities/kit/base/errors.ts';
import {
  providerNames,
  type Location,
  type OwnedObject,
  type ProviderName,
} from '#entities/kit/objects/stored-object.ts';
import { openProvider, type Bucket, type OpeningOptions, type StorageSettings } from './providers/open-provider.ts';
import type { ByteRange, LinkPresentation, StorageProvider } from './provider.ts';
import { readProblem, storageUnavailable } from './storage-problem.ts';

interface ObjectStorageOptions extends OpeningOptions {
  /** As they are now. */
  readonly settings: () => StorageSettings;
  /** The id of the installation, with which all keys begin. */
  readonly installation: () => Promise<string>;
  /** Folder of the files while `devmode` is on. */
  readonly devFolder: string;
  /** Base of links to this server, for providers without a `baseurl` of their own. */
  readonly downloadUrl: () => string;
  /** Called for a read from the source although `readfrombackup` is on, because there is no verified copy. */
  readonly onReadWithoutCopy?: (provider: ProviderName) => void;
}

/** Part of an object that is read: where it is, and where its verified copy is. */
export type ReadableObject = Pick<OwnedObject, 'location' | 'version' | 'copy'>;

interface Source {
  readonly provider: StorageProvider;
  readonly name: ProviderName;
  readonly key: string;
  readonly version: string;
}

/** Maximum length in bytes of a range that is read at once. */
const shortBytes = 65_536;

/** Suffix of the bucket beside the live one that has its copies. */
const backupSuffix = '-backup';

/** The providers of the configuration: chooses where new objects go, and finds those that exist. */
export class ObjectStorage {
  readonly #options: ObjectStorageOptions;
  /** Opened buckets, with the settings that they were opened with. */
  readonly #opened = new Map<string, { readonly provider: StorageProvider; readonly settings: object }>();
  #installation: Promise<string> | undefined;

  constructor(options: ObjectStorageOptions) {
    this.#options = options;
  }

  get enabledBuckets(): readonly Bucket[] {
    const { providers, devmode } = this.#options.settings();
    if (devmode) return [this.#devBucket];
    return providerNames.filter((name) => providers[name].enabled).map((name) => this.#bucketOf(name));
  }

  /**
   * Where a new object goes: to the first enabled provider, under a key that nobody can guess.
   * @throws AppError storage_disabled, database_unavailable
   */
  async newLocation(organizationId: string | null): Promise<Location> {
    this.#requireEnabled();
    const [bucket] = this.enabledBuckets;
    if (!bucket)
      throw new AppError('storage_disabled', 'Files cannot be stored: no provider of object storage is enabled.');
    const installation = await this.installation();
    return { ...bucket, key: `${installation}/${organizationId ?? '--'}/${randomBytes(16).toString('hex')}` };
  }

  /** The id with which the keys of this installation begin. @throws AppError database_unavailable */
  installation(): Promise<string> {
    this.#installation ??= this.#options.installation().catch((error: unknown) => {
      this.#installation = undefined;
      throw error;
    });
    return this.#installation;
  }

  /** The bucket of an object. @throws AppError storage_disabled, storage_unavailable while its provider is disabled */
  providerFor(bucket: Bucket): StorageProvider {
    this.#requireEnabled();
    if (!this.isEnabled(bucket.provider))
      throw storageUnavailable(`The file cannot be read or stored: its provider (${bucket.provider}) is disabled.`);
    return this.providerOfCopy(bucket);
  }

  /** The bucket of a copy: the provider that receives copies may be disabled, so that it receives no new objects. */
  providerOfCopy({ provider, bucket, region }: Bucket): StorageProvider {
    const { providers } = this.#options.settings();
    const settings = providers[provider];
    const name = JSON.stringify([provider, bucket, region]);
    const held = this.#opened.get(name);
    if (held && isDeepStrictEqual(held.settings, settings)) return held.provider;
    const opened = openProvider({ provider, bucket, region }, providers, this.#options);
    this.#opened.set(name, { provider: opened, settings });
    held?.provider.close?.();
    return opened;
  }

  /** Ends connections that nobody uses. */
  close(): void {
    for (const { provider } of this.#opened.values()) provider.close?.();
    this.#opened.clear();
  }

  isEnabled(provider: ProviderName): boolean {
    const { devmode, providers } = this.#options.settings();
    return devmode ? provider === this.#devBucket.provider : providers[provider].enabled;
  }

  get backedUpProviders(): readonly ProviderName[] {
    return providerNames.filter((name) => this.isBackedUp(name));
  }

  isBackedUp(provider: ProviderName): boolean {
    const { enabled, devmode, providers } = this.#options.settings();
    return enabled && !devmode && providers[provider].enabled && providers[provider].backup.enabled;
  }

  /** Where the copies of a bucket's objects go; undefined while its provider has no backup. */
  copyTarget({ provider, bucket, region }: Bucket): Bucket | undefined {
    const { devmode, providers } = this.#options.settings();
    const { backup } = providers[provider];
    if (devmode || !backup.enabled) return undefined;
    const target =
      backup.provider === ''
        ? { provider, bucket: `${bucket}${backupSuffix}`, region }
        : this.#bucketOf(backup.provider);
    return { ...target, region: hasRegion(target.provider) && backup.region !== '' ? backup.region : target.region };
  }

  /**
   * Reads an object, or its verified copy while `readfrombackup` is on. The stream fails with a StorageError when its source breaks off.
   * @throws AppError storage_unavailable, storage_disabled, not_found when the bytes are gone
   */
  async openForRead(
    object: ReadableObject,
    { range, signal }: { readonly range?: ByteRange; readonly signal?: AbortSignal } = {},
  ): Promise<Readable> {
    const { provider, key, version } = this.#sourceOf(object);
    try {
      const { stream } = await provider.read(key, {
        version,
        ...(range ? { range } : {}),
        ...(signal ? { signal } : {}),
      });
      return stream;
    } catch (error) {
      throw readProblem(error);
    }
  }

  /**
   * Reads a short range as `openForRead` does, at once.
   * @returns undefined for a longer range, and where a stream takes no longer
   * @throws AppError likewise
   */
  async readShort(object: ReadableObject, range: ByteRange): Promise<Buffer | undefined> {
    if (range.last - range.first >= shortBytes) return undefined;
    const { provider, key, version } = this.#sourceOf(object);
    try {
      return await provider.readShort?.(key, { range, version });
    } catch (error) {
      throw readProblem(error);
    }
  }

  /**
   * A link to the provider itself; undefined where this server answers downloads. It causes no request.
   * @throws AppError storage_unavailable when it cannot be signed
   */
  async link(object: ReadableObject, presentation: LinkPresentation): Promise<string | undefined> {
    const source = this.#linkedSourceOf(object);
    if (!source) return undefined;
    const { provider, key, name } = source;
    if (name !== 'disk') return presigned(provider, key, presentation);
    const base = this.#options.settings().providers.disk.endpoint.replace(/\/+$/, '');
    return base === '' ? undefined : `${base}/${key}`;
  }

  /**
   * A link to the provider for a download that begins now, where `link` makes none because its signature is a request.
   * @throws AppError storage_unavailable when it cannot be signed
   */
  async redirect(object: ReadableObject, presentation: LinkPresentation): Promise<string | undefined> {
    const source = this.#linkedSourceOf(object);
    if (source?.name !== 'cloudstore') return undefined;
    return presigned(source.provider, source.key, { ...presentation, mayRequest: true });
  }

  /** Base of links to this server for files of a provider, without a slash at its end. */
  baseUrl(provider: ProviderName): string {
    const { baseurl } = this.#options.settings().providers[provider];
    return (baseurl || this.#options.downloadUrl()).replace(/\/+$/, '');
  }

  /** Where an object is read, if the provider may serve it itself. */
  #linkedSourceOf(object: ReadableObject): Source | undefined {
    const { enabled, devmode, providers } = this.#options.settings();
    if (!enabled || devmode || !this.isEnabled(object.location.provider)) return undefined;
    const source = this.#sourceOf(object);
    const { name } = source;
    return name === 'database' || providers[name].proxypresignenabled ? undefined : source;
  }

  #sourceOf({ location, version, copy }: ReadableObject): Source {
    const { devmode, providers } = this.#options.settings();
    const { backup } = providers[location.provider];
    if (!devmode && backup.enabled && backup.readfrombackup) {
      this.#requireEnabled();
      if (copy)
        return { provider: this.providerOfCopy(copy), name: copy.provider, key: copy.key, version: copy.version };
      this.#options.onReadWithoutCopy?.(location.provider);
    }
    return { provider: this.providerFor(location), name: location.provider, key: location.key, version };
  }

  get #devBucket(): Bucket {
    return { provider: 'disk', bucket: this.#options.devFolder, region: '' };
  }

  #bucketOf(name: ProviderName): Bucket {
    const { providers } = this.#options.settings();
    const { bucket } = providers[name];
    // An object's row names its folder; a process with another working directory has to find it too.
    if (name === 'disk') return { provider: name, bucket: resolve(bucket), region: '' };
    return { provider: name, bucket, region: name === 'bucketstore' ? providers.bucketstore.region : '' };
  }

  #requireEnabled(): void {
    if (!this.#options.settings().enabled)
      throw new AppError('storage_disabled', 'Files are neither stored nor served: the object storage is disabled.');
  }
}

function presigned(
  provider: StorageProvider,
  key: string,
  presentation: LinkPresentation,
): Promise<string | undefined> | undefined {
  return provider.presignGet?.(key, presentation).catch((error: unknown) => {
    throw readProblem(error);
  });
}

function hasRegion(provider: ProviderName): boolean {
  return provider === 'bucketstore' || provider === 'edgestore';
}
