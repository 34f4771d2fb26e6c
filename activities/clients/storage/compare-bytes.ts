import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { StorageError, type StorageProvider } from './provider.ts';

export interface ExpectedBytes {
  readonly sizeBytes: number;
  readonly sha256: Buffer;
}

/** Bytes at a provider. */
export interface StoredBytes {
  readonly provider: Pick<StorageProvider, 'read'>;
  readonly key: string;
  /** Those of this version only. */
  readonly version?: string | undefined;
}

/** Stored bytes are not what they have to be. The message says how, for an operator. */
export class DifferentBytesError extends Error {
  override readonly name = 'DifferentBytesError';
}

/**
 * Begins to read an object of which the size is known.
 * @param start first byte that is read
 * @throws DifferentBytesError; StorageError when the provider cannot be asked
 */
export async function openExpected(
  { provider, key, version }: StoredBytes,
  { sizeBytes }: ExpectedBytes,
  { signal, start = 0 }: { readonly signal: AbortSignal; readonly start?: number },
): Promise<Readable> {
  const found = await provider
    .read(key, {
      signal,
      ...(start === 0 ? {} : { range: { first: start, last: sizeBytes - 1 } }),
      ...(version === undefined ? {} : { version }),
    })
    .catch((error: unknown) => {
      throw asDifference(error);
    });
  if (found.sizeBytes === sizeBytes) return found.stream;
  found.stream.destroy();
  throw new DifferentBytesError(`it has ${found.sizeBytes} bytes instead of ${sizeBytes}`);
}

/** @throws DifferentBytesError */
export function checkHash(hash: Hash, { sha256 }: ExpectedBytes): void {
  if (!hash.digest().equals(sha256)) throw new DifferentBytesError('its content is another one (SHA-256)');
}

/** An object that is gone or was replaced is a difference; other errors stay as they are. */
function asDifference(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  if (error.failure === 'missing') return new DifferentBytesError('it does not exist', { cause: error });
  if (error.failure === 'changed')
    return new DifferentBytesError('it was replaced (its version is another one)', { cause: error });
  return error;
}

/**
 * Reads an object from its first to its last byte.
 * @returns how it differs from what is expected, for an operator; undefined when it is equal
 * @throws StorageError when the provider cannot be asked
 */
export async function differenceOf(
  provider: Pick<StorageProvider, 'read'>,
  key: string,
  expected: ExpectedBytes,
  { version, signal }: { readonly version?: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  try {
    const stream = await openExpected({ provider, key, version }, expected, { signal });
    const hash = createHash('sha256');
    let read = 0;
    for await (const piece of stream) {
      hash.update(piece as Buffer);
      read += (piece as Buffer).length;
    }
    if (read !== expected.sizeBytes) throw new StorageError('broken', `Reading ${key} ended after ${read} bytes.`);
    checkHash(hash, expected);
    return undefined;
  } catch (error) {
    // It may also be removed or replaced while it is read.
    const difference = asDifference(error);
    if (difference instanceof DifferentBytesError) return difference.message;
    throw error;
  }
}

/**
 * Reads an object of any version.
 * @returns its version when it is equal to what is expected, else undefined
 * @throws StorageError when the provider cannot be asked
 */
export async function versionOfEqual(
  provider: Pick<StorageProvider, 'head' | 'read'>,
  key: string,
  expected: ExpectedBytes,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await provider.head(key);
  if (!found) return undefined;
  const { version } = found;
  return (await differenceOf(provider, key, expected, { version, signal })) === undefined ? version : undefined;
}
