import type { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import { StorageError, type StorageProvider } from '#activities/clients/storage/provider.ts';
import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import {
  isSameLocation,
  readRestorable,
  restorablePage,
  type RestorableObject,
  type StoredCopy,
} from '#entities/kit/objects/object-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Objects and copies that providers are asked about at the same time. */
const maxConcurrent = 8;

const maxFailures = 10;

interface ObjectVerification {
  readonly storage: Pick<ObjectStorage, 'providerFor' | 'providerOfCopy'>;
  readonly transact: <T>(work: (unit: UnitOfWork) => Promise<T>) => Promise<T>;
  readonly pageSize: number;
  readonly onProgress: (count: number) => void;
}

/** Bytes that a row says are stored. */
interface NamedBytes extends StoredCopy {
  readonly objectId: string;
  readonly isCopy: boolean;
  readonly sizeBytes: number;
}

interface Failures {
  reason: string;
  /** Since its last answer. */
  failed: number;
  /** Objects and copies of which nobody knows whether they are there. */
  unknown: number;
}

/**
 * Asks the providers for the bytes of every object that a record owns or has let go of, and of every verified copy. Nothing is read but sizes and
 * versions; the audit and the sweep of copies read contents. A bucket that cannot be asked is one line of its own, because it has lost nothing.
 * @returns one line for each that is missing, or has another size or version
 */
export async function verifyObjects({
  storage,
  transact,
  pageSize,
  onProgress,
}: ObjectVerification): Promise<string[]> {
  const lines: string[] = [];
  const failures = new Map<string, Failures>();

  const difference = async (bytes: NamedBytes): Promise<string | undefined> => {
    const { location, isCopy, objectId } = bytes;
    const bucket = `${location.provider} ${location.bucket}`;
    const known = failures.get(bucket);
    if (known && known.failed >= maxFailures) {
      known.unknown += 1;
      return undefined;
    }
    try {
      const provider = isCopy ? storage.providerOfCopy(location) : storage.providerFor(location);
      const found = await differenceAt(provider, bytes);
      const before = failures.get(bucket);
      if (before) before.failed = 0;
      // Its row may have changed since it was read.
      if (found === undefined || !(await transact((unit) => isStillNamed(unit, bytes)))) return undefined;
      return `${isCopy ? 'the copy of object' : 'object'} ${objectId} in ${bucket} ${found} (key ${location.key})`;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      const before = failures.get(bucket);
      failures.set(bucket, { reason, failed: (before?.failed ?? 0) + 1, unknown: (before?.unknown ?? 0) + 1 });
      return undefined;
    }
  };

  let count = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const request = { after, limit: pageSize };
    const page: RestorableObject[] = await transact((unit) => restorablePage(unit, request));
    const found = await concurrently(page.flatMap(namedBytes), maxConcurrent, difference);
    lines.push(...found.filter((line) => line !== undefined));
    count += page.length;
    onProgress(count);
    after = page.length < pageSize ? undefined : page.at(-1)?.id;
  }
  for (const [bucket, { reason, unknown }] of failures)
    lines.push(`${bucket} ${cannotBeAsked} about ${unknown} objects and copies: ${reason}`);
  return lines;
}

/** Line about a bucket that did not answer. */
export const cannotBeAsked = 'could not be asked';

function namedBytes({ id: objectId, location, version, sizeBytes, copy }: RestorableObject): NamedBytes[] {
  const object = { objectId, isCopy: false, location, version, sizeBytes };
  if (!copy?.isVerified || copy.version === null) return [object];
  return [object, { objectId, isCopy: true, location: copy.location, version: copy.version, sizeBytes }];
}

async function differenceAt(
  provider: StorageProvider,
  { location: { key }, sizeBytes, version }: NamedBytes,
): Promise<string | undefined> {
  const found = await provider.head(key);
  if (!found) return 'is missing';
  if (found.sizeBytes !== sizeBytes) return `has ${found.sizeBytes} bytes instead of ${sizeBytes}`;
  if (found.version === version) return undefined;
  try {
    // The version of bytes at a provider may have changed although they are the same: a folder that was moved to another disk.
    const { stream } = await provider.read(key, { version });
    stream.destroy();
    return undefined;
  } catch (error) {
    if (!(error instanceof StorageError) || (error.failure !== 'changed' && error.failure !== 'missing')) throw error;
    return `was replaced: its version is ${found.version} instead of ${version}`;
  }
}

async function isStillNamed(unit: UnitOfWork, { objectId, isCopy, location, version }: NamedBytes): Promise<boolean> {
  const object = await readRestorable(unit, objectId);
  const now = isCopy ? object?.copy?.isVerified === true && object.copy : object;
  return now ? isSameLocation(now.location, location) && now.version === version : false;
}

/** Why a provider could not be asked; undefined for what is no failure of a provider. */
function reasonOf(error: unknown): string | undefined {
  const isOfStorage =
    error instanceof StorageError ||
    (error instanceof AppError && (error.code === 'storage_unavailable' || error.code === 'storage_disabled'));
  return isOfStorage ? error.message : undefined;
}
