import { on } from 'node:events';
import type { Readable } from 'node:stream';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { Measured } from '#entities/kit/objects/stored-object.ts';
import type { FileTypes } from '../file-types/file-types.ts';
import type { PartRoom } from './held-part.ts';
import { Measurement, type ExpectedFile, type FileLimits } from './measurement.ts';
import { PartPump, partBytesFor } from './part-pump.ts';
import { StorageError, type StorageProvider } from '../provider.ts';
import { abortable, StallTimer } from './stall-timer.ts';
import { writeProblem } from '../storage-problem.ts';

/** Services of the process that receiving needs. */
export interface ReceiveContext extends PartRoom {
  /** For operators: what failed without concern to the request. */
  readonly onBackgroundError: (error: unknown, doing: string) => void;
  readonly types: FileTypes;
  /** How long a provider may let an upload wait in which nothing progresses, in milliseconds. */
  readonly stallTimeoutMs: () => number;
}

interface ReceiveTarget {
  readonly provider: StorageProvider;
  readonly key: string;
  /**
   * Whether a later request may store the same key, while removing after a failure is still under way. Then only parts are removed; the
   * rest is replaced by that request, or removed with the row of the upload.
   */
  readonly isRepeatable?: boolean;
}

/**
 * Streams a file to its provider. The source, whose buffers are used up, is read as fast as the provider takes the bytes and the budget
 * allows. Most wrong types are refused before bytes are stored, archives at the end. Stored parts are removed when it fails; what a crash, or a
 * provider that does not answer, leaves is removed with its row.
 * @returns when the object is durable
 * @throws AppError body_too_large, file_type_refused, checksum_mismatch, invalid_input, storage_unavailable; the error of the source
 */
export async function receive(
  source: Readable,
  { provider, key, isRepeatable = false }: ReceiveTarget,
  expected: ExpectedFile,
  limits: FileLimits,
  context: ReceiveContext,
): Promise<Measured & { readonly version: string }> {
  const measurement = new Measurement(expected, limits, context.types);
  const stall = new StallTimer(context.stallTimeoutMs());
  const signal = AbortSignal.any([goneWith(source), stall.signal]);
  const pump = new PartPump(
    {
      provider,
      key,
      partBytes: partBytesFor(provider, Math.min(expected.sizeBytes ?? limits.maxBytes, limits.maxBytes)),
      contentType: () => measurement.contentType ?? context.types.ofUnknown,
      onProgress: stall.progressed,
    },
    context,
    signal,
  );
  try {
    for await (const piece of pieces(source)) {
      await measurement.add(piece);
      await stall.during(() => pump.add(piece));
    }
    const measured = await measurement.finish();
    failpoint('upload-received');
    const version = await stall.during(() => pump.finish());
    await stall.during(() => confirm(provider, key, { ...measured, version }, signal));
    failpoint('upload-durable');
    return { ...measured, version };
  } catch (error) {
    stall.end(error);
    // First: removing may take as long as storing did.
    await pump.release();
    // Parts that cannot be removed now are removed with the row of the upload.
    await abortable(AbortSignal.timeout(context.stallTimeoutMs()), () => pump.abort({ keepsKey: isRepeatable })).catch(
      (left: unknown) => context.onBackgroundError(left, `removing what was stored of ${key}`),
    );
    throw writeProblem(error);
  } finally {
    stall.end();
    await pump.release();
  }
}

/**
 * The pieces of a source as they come: its own iterator joins those that wait. Each is gone when the next one is asked for. The source is
 * left open for its owner when the reader stops.
 * @throws the error of the source
 */
export async function* pieces(source: Readable): AsyncGenerator<Buffer, undefined> {
  if (!source.readableEnded && !source.destroyed) {
    const arriving = on(source, 'data', { close: ['end', 'close'], highWaterMark: 1, lowWaterMark: 1 });
    try {
      // It may have been paused before.
      source.resume();
      for await (const [piece] of arriving as AsyncIterable<[Buffer]>) {
        yield piece;
        free(piece);
      }
    } finally {
      source.pause();
    }
  }
  if (!source.readableEnded) throw source.errored ?? closed();
}

/** Frees the memory of a buffer that has all of it: V8 collects a buffer that has waited for a while only after many of them. */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Is aborted when the source breaks off. */
function goneWith(source: Readable): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    if (!source.readableEnded) gone.abort(source.errored ?? closed());
  };
  source.once('error', leave).once('close', leave);
  return gone.signal;
}

function closed(): Error {
  return new Error('the source of the file was closed');
}

/** Whether the provider has what was sent: it may have accepted a request and lost its effect. @throws StorageError broken */
export async function confirm(
  provider: StorageProvider,
  key: string,
  { sizeBytes, version }: { readonly sizeBytes: number; readonly version: string },
  signal: AbortSignal,
): Promise<void> {
  const found = await abortable(signal, () => provider.head(key));
  if (found?.sizeBytes === sizeBytes && found.version === version) return;
  throw new StorageError('broken', `${key} has ${found?.sizeBytes ?? 'no'} bytes instead of ${sizeBytes}`);
}
