import { setTimeout as pause } from 'node:timers/promises';
import { mebibyte } from '#entities/kit/base/mebibyte.ts';
import { HeldPart, type PartRoom } from './held-part.ts';
import {
  StorageError,
  type PartBody,
  type PartsRef,
  type StorageProvider,
  type StoredPart,
  type WriteOptions,
} from '../provider.ts';
import { abortable } from './stall-timer.ts';

/** Parts of one upload that are sent to its provider at the same time. */
const maxInFlight = 4;

/** Attempts at one part, whose bytes are held until the last. */
const maxAttempts = 3;
const firstPauseMs = 200;

/** The size of all parts of an upload but its last: as small as the provider allows for so many bytes. */
export function partBytesFor({ partRules }: StorageProvider, maxBytes: number): number {
  const needed = Math.ceil(maxBytes / partRules.maxParts / mebibyte) * mebibyte;
  return Math.max(partRules.minBytes, needed);
}

/** An upload in parts that was begun before. */
interface BegunParts {
  readonly ref: PartsRef;
  readonly parts: readonly StoredPart[];
}

interface PumpTarget {
  readonly provider: StorageProvider;
  readonly key: string;
  readonly partBytes: number;
  /** Asked when the first part is full. */
  readonly contentType: () => string;
  /** Parts that exist already. */
  readonly begun?: BegunParts;
  /** Called after each part, in the order in which they are stored. A rejection of it ends the upload. */
  readonly onPart?: (part: StoredPart, ref: PartsRef) => Promise<void>;
  /** Called whenever the provider has taken bytes, and when it has answered. */
  readonly onProgress?: () => void;
}

/** Cuts bytes into parts of one size and stores them, a few at a time. Its signal ends all requests, and what waits for room. */
export class PartPump {
  readonly #target: PumpTarget;
  readonly #room: PartRoom;
  readonly #signal: AbortSignal;
  readonly #stored: StoredPart[];
  readonly #inFlight = new Set<Promise<void>>();
  #ref: PartsRef | undefined;
  #part: HeldPart;
  #number: number;
  #failure: { readonly error: unknown } | undefined;

  constructor(target: PumpTarget, room: PartRoom, signal: AbortSignal) {
    this.#target = target;
    this.#room = room;
    this.#signal = signal;
    this.#ref = target.begun?.ref;
    this.#stored = [...(target.begun?.parts ?? [])];
    this.#number = this.#stored.length + 1;
    this.#part = this.#newPart();
  }

  /** Copies bytes; waits while enough of them are on their way. */
  async add(bytes: Buffer): Promise<void> {
    const { partBytes } = this.#target;
    for (let start = 0; start < bytes.length;) {
      if (this.#part.sizeBytes === partBytes) await this.#send();
      const piece = bytes.subarray(start, start + partBytes - this.#part.sizeBytes);
      await this.#part.add(piece);
      start += piece.length;
    }
  }

  /** Stores what is left and makes the object of its parts; a small one needs one request. @returns its version */
  async finish(): Promise<string> {
    const { provider, key, contentType } = this.#target;
    if (!this.#ref) {
      const version = await this.#attempt((options) => provider.put(key, this.#part.body, contentType(), options));
      this.#part.stored();
      return version;
    }
    if (this.#part.sizeBytes > 0) await this.#send();
    await this.#settle();
    const ref = this.#ref;
    return this.#attempt((options) => provider.finishParts(ref, this.#inOrder(), options));
  }

  /** Stores all full parts. @returns the bytes after them, which are held until `release` */
  async pauseAtPart(): Promise<{
    readonly parts: readonly StoredPart[];
    readonly tail: PartBody;
    readonly tailBytes: number;
  }> {
    if (this.#part.sizeBytes === this.#target.partBytes) await this.#send();
    await this.#settle();
    return { parts: this.#inOrder(), tail: this.#part.body, tailBytes: this.#part.sizeBytes };
  }

  /** Removes the parts that are stored, and what is stored for the key unless others may have stored that. */
  async abort({ keepsKey }: { readonly keepsKey: boolean }): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    const { provider, key } = this.#target;
    if (this.#ref) await provider.abortParts(this.#ref);
    if (!keepsKey) await provider.delete([key]);
  }

  /** Gives back memory and room for files. */
  async release(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
    await this.#part.release();
  }

  #newPart(): HeldPart {
    return new HeldPart(this.#room, this.#target.partBytes, this.#signal);
  }

  #inOrder(): StoredPart[] {
    return this.#stored.toSorted((one, other) => one.number - other.number);
  }

  async #send(): Promise<void> {
    while (this.#inFlight.size >= maxInFlight) await Promise.race(this.#inFlight);
    this.#throwFailure();
    const { provider, key, partBytes, contentType } = this.#target;
    this.#ref ??= await this.#attempt(() => provider.beginParts(key, contentType(), partBytes));
    const part = this.#part;
    const sending = this.#store(this.#ref, this.#number++, part)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .then(() => part.release())
      .finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
    this.#part = this.#newPart();
  }

  async #store(ref: PartsRef, number: number, part: HeldPart): Promise<void> {
    const { provider, onPart } = this.#target;
    const { body, sizeBytes } = part;
    const tag = await this.#attempt((options) => provider.putPart(ref, number, body, options));
    part.stored();
    const stored = { number, sizeBytes, tag };
    this.#stored.push(stored);
    await onPart?.(stored, ref);
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  /** Repeats what a provider could not do for the moment. */
  async #attempt<T>(work: (options: WriteOptions) => Promise<T>): Promise<T> {
    const signal = this.#signal;
    const { onProgress } = this.#target;
    const options = { signal, ...(onProgress ? { onProgress } : {}) };
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await abortable(signal, () => work(options));
        onProgress?.();
        return result;
      } catch (error) {
        // The reason of its end is more useful than the reaction of the provider.
        signal.throwIfAborted();
        const isTransient = error instanceof StorageError && error.failure === 'unavailable';
        if (!isTransient || attempt === maxAttempts) throw error;
        await pause(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()), undefined, { signal });
      }
    }
  }
}
