import { Optional } from 'cel-js';
import { Duration, UnsignedInt } from 'cel-js/evaluator';
import type { CelPart, CelValue } from './cel-contract.ts';
import { durationText } from './functions/duration.ts';
import { CelFailure } from './meter.ts';
import { TypedRecord } from './values-in.ts';

/** Size of a value that leaves the thread, about in bytes of JSON: what receives it copies it on its own thread. */
const maxValueSize = 256 * 1024;

/** Size of all values of parts of one evaluation. */
const maxPartsSize = 16 * 1024;

/** A part whose value is kept. */
export interface TracedPart {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
}

/** @throws CelFailure value_too_large; a value may contain the same list many times, so its size is that of its text */
export function writeValue(value: unknown): CelValue {
  return new ValueWriter(maxValueSize).write(value);
}

/** The values of parts in their order, as many as there is room for; a value that is too large is left out. */
export function writeParts(parts: Iterable<TracedPart>): CelPart[] {
  let room = maxPartsSize;
  const written: CelPart[] = [];
  for (const { start, end, value } of parts) {
    const writer = new ValueWriter(room - 20);
    try {
      written.push({ start, end, value: writer.write(value) });
      room = writer.room;
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error;
    }
  }
  return written.toSorted((one, other) => one.start - other.start || other.end - one.end);
}

class ValueWriter {
  room: number;

  constructor(room: number) {
    this.room = room;
  }

  write(value: unknown): CelValue {
    if (value === null || value === undefined) return this.#taking(4, null);
    if (typeof value === 'string') return this.#taking(value.length + 2, value);
    if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint')
      return this.#taking(8, value);
    return this.#writeObject(value);
  }

  #writeObject(value: object): CelValue {
    if (Array.isArray(value)) {
      this.#taking(2, null);
      return value.map((item) => this.write(item));
    }
    if (value instanceof TypedRecord && value.isNull) return this.#taking(4, null);
    if (value instanceof Map) return this.#writeMap(value);
    if (value instanceof Date) return this.#taking(24, value);
    if (value instanceof Duration) return this.#taking(24, durationText(value));
    if (value instanceof UnsignedInt) return this.#taking(8, value.value);
    if (value instanceof Uint8Array) return this.#taking(value.length, new Uint8Array(value));
    if (value instanceof Optional) return this.write(value.orValue(null));
    const name: unknown = Reflect.get(value, 'name');
    return this.#taking(20, name === 'null' ? 'null_type' : typeof name === 'string' ? name : 'unknown');
  }

  #writeMap(map: ReadonlyMap<unknown, unknown>): CelValue {
    this.#taking(2, null);
    // Without a prototype, a key such as __proto__ is a key.
    const written = Object.create(null) as { [key: string]: CelValue };
    for (const [key, item] of map) {
      const name = this.#taking(String(key).length + 3, String(key));
      written[name] = this.write(item);
    }
    return written;
  }

  #taking<T>(size: number, value: T): T {
    this.room -= size;
    if (this.room < 0) throw new CelFailure('value_too_large', `The value is larger than ${maxValueSize / 1024} KB.`);
    return value;
  }
}
