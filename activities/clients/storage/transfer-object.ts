import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { PartProgress } from '#entities/kit/objects/object-copies.ts';
import { checkHash, DifferentBytesError, openExpected, type ExpectedBytes, type StoredBytes } from './compare-bytes.ts';
import { bodyBytes } from './receiving/part-body.ts';
import { partBytesFor } from './receiving/part-pump.ts';
import { StorageError, type StorageProvider } from './provider.ts';

/** How often progress is saved, at most: each time it is written whole. */
const maxSaves = 100;

export interface Transfer {
  readonly from: StoredBytes;
  readonly to: { readonly provider: StorageProvider; readonly key: string };
  readonly expected: ExpectedBytes & { readonly contentType: string };
  /** Parts that an earlier attempt stored. */
  readonly progress?: PartProgress | undefined;
  /** Keeps what was stored so far, for the attempt after this one; undefined: nothing of it is left. Without it no attempt leaves parts. */
  readonly save?: (progress: PartProgress | undefined) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Copies an object from one provider to another. A source that is not what its row says makes no object, unless an earlier attempt has
 * written its first parts; so whoever calls this compares the bytes afterwards.
 * @returns the version of the new object
 * @throws DifferentBytesError, StorageError
 */
export async function transferObject(transfer: Transfer): Promise<string> {
  const { to, expected } = transfer;
  const partBytes = transfer.progress?.partBytes ?? partBytesFor(to.provider, expected.sizeBytes);
  return expected.sizeBytes <= partBytes ? transferWhole(transfer) : transferParts(transfer, partBytes);
}

async function transferWhole({ from, to, expected, signal }: Transfer): Promise<string> {
  const stream = await openExpected(from, expected, { signal });
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  for await (const piece of stream) {
    hash.update(piece as Buffer);
    pieces.push(piece as Buffer);
  }
  checkLength(from.key, bodyBytes(pieces), expected.sizeBytes);
  checkHash(hash, expected);
  return to.provider.put(to.key, pieces, expected.contentType, { signal });
}

async function transferParts(transfer: Transfer, partBytes: number): Promise<string> {
  const { from, to, expected, save, signal } = transfer;
  const { sizeBytes, contentType } = expected;
  const ref = transfer.progress?.ref ?? (await to.provider.beginParts(to.key, contentType, partBytes));
  const tags = [...(transfer.progress?.tags ?? [])];
  const start = tags.length * partBytes;
  // The hash of what an earlier attempt copied is not known.
  const hash = start === 0 ? createHash('sha256') : undefined;
  const savedEvery = Math.ceil(sizeBytes / partBytes / maxSaves);
  try {
    if (start === 0) await save?.({ ref, partBytes, tags });
    if (start < sizeBytes) {
      let copied = start;
      const stream = await openExpected(from, expected, { signal, start });
      for await (const part of partsOf(stream, partBytes, hash)) {
        tags.push(await to.provider.putPart(ref, tags.length + 1, part, { signal }));
        copied += bodyBytes(part);
        if (tags.length % savedEvery === 0) await save?.({ ref, partBytes, tags });
      }
      checkLength(from.key, copied, sizeBytes);
    }
    if (hash) checkHash(hash, expected);
    const parts = tags.map((tag, index) => ({
      number: index + 1,
      sizeBytes: Math.min(partBytes, sizeBytes - index * partBytes),
      tag,
    }));
    return await to.provider.finishParts(ref, parts, { signal });
  } catch (error) {
    const isLost = error instanceof StorageError && error.failure === 'missing';
    if (save && !isLost && !(error instanceof DifferentBytesError)) throw error;
    // The source is of no use, the parts are gone, or nobody knows of them: the next attempt begins anew.
    await to.provider.abortParts(ref);
    await save?.(undefined);
    throw error;
  }
}

/** The bytes of a stream in parts of one size, but the last. Their pieces are not joined. */
async function* partsOf(stream: Readable, partBytes: number, hash: Hash | undefined): AsyncGenerator<Buffer[]> {
  let part: Buffer[] = [];
  let left = partBytes;
  for await (const read of stream) {
    let piece = read as Buffer;
    hash?.update(piece);
    while (piece.length >= left) {
      part.push(piece.subarray(0, left));
      piece = piece.subarray(left);
      yield part;
      part = [];
      left = partBytes;
    }
    if (piece.length === 0) continue;
    part.push(piece);
    left -= piece.length;
  }
  if (part.length > 0) yield part;
}

function checkLength(key: string, read: number, expected: number): void {
  if (read !== expected)
    throw new StorageError('broken', `Reading ${key} ended after ${read} bytes instead of ${expected}.`);
}
