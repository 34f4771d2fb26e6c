import type { Readable } from 'node:stream';
import { AppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { SerialQueue } from '#entities/kit/base/concurrency/serial-queue.ts';
import type { UploadedPart, UploadProgress } from '#entities/kit/objects/upload-rows.ts';
import { PartPump, partBytesFor } from './part-pump.ts';
import type { PartsRef, StorageProvider, StoredPart } from '../provider.ts';
import { abortable, StallTimer } from './stall-timer.ts';
import { pieces, type ReceiveContext } from './receive.ts';
import { writeProblem } from '../storage-problem.ts';
import { incomingKey, tailKey } from './upload-keys.ts';

/** How far an upload is that comes in several requests. */
export interface ResumableState {
  /** Announced. */
  readonly sizeBytes: number;
  readonly received: number;
  readonly tailBytes: number;
  readonly parts: readonly UploadedPart[];
  readonly partsRef: PartsRef | null;
}

/**
 * Takes the bytes of one request for an upload that comes in several. Full parts are stored as parts, the rest as an object of its own, and
 * each is noted, so that any process can continue. Bytes that arrived before the source broke off are kept.
 * @param save notes progress; what it rejects ends the request
 * @returns whether all bytes are there, as the object `incomingKey(key)`
 * @throws AppError body_too_large, storage_unavailable; the error of the source, after what arrived was kept
 */
export async function resumeReceiving(
  source: Readable,
  { provider, key }: { readonly provider: StorageProvider; readonly key: string },
  state: ResumableState,
  save: (progress: UploadProgress) => Promise<void>,
  context: ReceiveContext,
): Promise<{ readonly isComplete: boolean; readonly received: number }> {
  const partBytes = partBytesFor(provider, state.sizeBytes);
  const progress = new Progress(state, partBytes, save);
  // Bytes that arrived are stored although their client has left.
  const stall = new StallTimer(context.stallTimeoutMs());
  const { signal } = stall;
  const ask = <T>(work: () => Promise<T>) => stall.during(() => abortable(signal, work));
  const begun = state.partsRef && { ref: state.partsRef, parts: state.parts.map(storedPart) };
  const pump = new PartPump(
    {
      provider,
      key: incomingKey(key),
      partBytes,
      contentType: () => 'application/octet-stream',
      ...(begun ? { begun } : {}),
      onPart: (part, ref) => progress.add(part, ref),
      onProgress: stall.progressed,
    },
    context,
    signal,
  );
  let received = state.received;
  try {
    // A process ended between the last byte and its note.
    const arrived = await ask(() => provider.head(incomingKey(key)));
    if (arrived?.sizeBytes === state.sizeBytes) return { isComplete: true, received: state.sizeBytes };
    if (state.tailBytes > 0) {
      const { stream } = await ask(() => readTail(provider, key, state.tailBytes, signal));
      // One that is left waiting reports its failure here, too.
      stream.on('error', () => {});
      try {
        const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
        for (let next = await ask(() => iterator.next()); !next.done; next = await ask(() => iterator.next())) {
          const { value: piece } = next;
          await stall.during(() => pump.add(piece));
        }
      } finally {
        stream.destroy();
      }
    }
    const broken = await take(source, state.sizeBytes - received, async (piece) => {
      await stall.during(() => pump.add(piece));
      received += piece.length;
    });
    if (received === state.sizeBytes) {
      await stall.during(() => pump.finish());
      return { isComplete: true, received };
    }
    const { tail, tailBytes } = await stall.during(() => pump.pauseAtPart());
    const options = { signal, onProgress: stall.progressed };
    if (tailBytes > 0) await ask(() => provider.put(tailKey(key), tail, 'application/octet-stream', options));
    await progress.leave(received, tailBytes);
    if (broken) throw broken.error;
    return { isComplete: false, received };
  } catch (error) {
    throw writeProblem(error);
  } finally {
    stall.end();
    await pump.release();
  }
}

/** @returns the failure of the source, if it broke off */
async function take(
  source: Readable,
  maxBytes: number,
  use: (piece: Buffer) => Promise<void>,
): Promise<{ readonly error: unknown } | undefined> {
  let taken = 0;
  const arriving = pieces(source);
  try {
    for (;;) {
      let next: IteratorResult<Buffer>;
      try {
        next = await arriving.next();
      } catch (error) {
        return { error };
      }
      if (next.done) return undefined;
      taken += next.value.length;
      if (taken > maxBytes)
        throw new AppError('body_too_large', 'The request has more bytes than the upload still lacks.');
      await use(next.value);
    }
  } finally {
    // No listener of a reader that has stopped stays at the source.
    await arriving.return(undefined);
  }
}

/** A put whose progress was not noted may have made it longer; its beginning is the same. */
function readTail(
  provider: StorageProvider,
  key: string,
  tailBytes: number,
  signal: AbortSignal,
): ReturnType<StorageProvider['read']> {
  return provider.read(tailKey(key), { range: { first: 0, last: tailBytes - 1 }, signal });
}

function storedPart({ number, size, tag }: UploadedPart): StoredPart {
  return { number, sizeBytes: size, tag };
}

/** Notes parts in the order of their numbers, in which they need not be stored. */
class Progress {
  readonly #partBytes: number;
  readonly #save: (progress: UploadProgress) => Promise<void>;
  readonly #saves = new SerialQueue();
  readonly #waiting = new Map<number, StoredPart>();
  #ref: PartsRef | undefined;
  #last: number;

  constructor(
    { parts, partsRef }: ResumableState,
    partBytes: number,
    save: (progress: UploadProgress) => Promise<void>,
  ) {
    this.#partBytes = partBytes;
    this.#save = save;
    this.#last = parts.length;
    this.#ref = partsRef ?? undefined;
  }

  add(part: StoredPart, ref: PartsRef): Promise<void> {
    this.#waiting.set(part.number, part);
    this.#ref = ref;
    return this.#saves.run(async () => {
      const parts: UploadedPart[] = [];
      for (let next = this.#waiting.get(this.#last + 1); next; next = this.#waiting.get(this.#last + 1)) {
        this.#waiting.delete(next.number);
        this.#last = next.number;
        parts.push({ number: next.number, size: next.sizeBytes, tag: next.tag });
      }
      if (parts.length === 0 || parts.at(-1)?.size !== this.#partBytes) return;
      await this.#save({ received: this.#last * this.#partBytes, tailBytes: 0, parts, ...this.#reference() });
      failpoint('part-saved');
    });
  }

  leave(received: number, tailBytes: number): Promise<void> {
    return this.#saves.run(() => this.#save({ received, tailBytes, parts: [], ...this.#reference() }));
  }

  #reference(): { readonly partsRef?: PartsRef } {
    return this.#ref ? { partsRef: this.#ref } : {};
  }
}
