import { UnsignedInt } from 'cel-js/evaluator';
import { CelFailure } from './meter.ts';
import type { ParsedType } from './cel-type.ts';
import { parseDuration } from './functions/duration.ts';
import { parseTimestamp } from './functions/timestamp.ts';

type Source = Readonly<Record<string, unknown>>;

type Convert = (value: unknown, type: ParsedType, path: string) => unknown;

/**
 * A record of an object type. It has the declared fields only, converts a field when it is read, and never looks at a prototype. Each type
 * has a subclass, by which cel-js knows it.
 */
export class TypedRecord extends Map<string, unknown> {
  readonly #fields: ReadonlyMap<string, ParsedType>;
  readonly #source: Source | undefined;
  readonly #convert: Convert;
  readonly #path: string;

  /** @param source undefined for a null record, which has no fields */
  constructor(fields: ReadonlyMap<string, ParsedType>, source: Source | undefined, convert: Convert, path: string) {
    super();
    this.#fields = fields;
    this.#source = source;
    this.#convert = convert;
    this.#path = path;
  }

  get isNull(): boolean {
    return this.#source === undefined;
  }

  /** Undefined for a field that the record does not have. */
  override get(name: string): unknown {
    if (super.has(name)) return super.get(name);
    const type = this.#fields.get(name);
    if (type === undefined || this.#source === undefined) return undefined;
    const raw = Object.hasOwn(this.#source, name) ? this.#source[name] : undefined;
    if (raw === undefined && !type.isNullable) return undefined;
    const value = this.#convert(raw, type, `${this.#path}.${name}`);
    super.set(name, value);
    return value;
  }

  /** Whether the field has a value other than null. */
  override has(name: string): boolean {
    const value = this.get(name);
    return value !== undefined && value !== null && !(value instanceof TypedRecord && value.isNull);
  }

  override keys(): MapIterator<string> {
    return new Map([...this.#fields.keys()].map((name) => [name, null])).keys();
  }

  override entries(): MapIterator<[string, unknown]> {
    const entries = [...this.keys()].map((name): [string, unknown] => [name, this.get(name)]);
    return new Map(entries.filter(([, value]) => value !== undefined)).entries();
  }

  override [Symbol.iterator](): MapIterator<[string, unknown]> {
    return this.entries();
  }
}

/** A subclass of `TypedRecord` of one type. */
export type RecordClass = new (...of: ConstructorParameters<typeof TypedRecord>) => TypedRecord;

/** An object type of an environment. */
interface KnownClass {
  readonly fields: ReadonlyMap<string, ParsedType>;
  readonly type: RecordClass;
}

/** Converts variables from the form of the API into values of cel-js. */
export class ValueReader {
  readonly #classes: ReadonlyMap<string, KnownClass>;

  constructor(classes: ReadonlyMap<string, KnownClass>) {
    this.#classes = classes;
  }

  /** @param path for the message of the error. @throws CelFailure wrong_type */
  readonly read = (value: unknown, type: ParsedType, path: string): unknown => {
    const isNull = value === null || value === undefined;
    if (isNull && !type.isNullable && !(type.kind === 'plain' && type.name === 'dyn' && value === null))
      throw mismatch(path, type, value);
    if (type.kind === 'object') return this.#readRecord(value, type, path);
    if (type.kind === 'plain') return isNull ? null : readPlain(value, type, path);
    if (type.kind === 'map') return isNull ? new Map() : this.#readMap(value, type, path);
    if (isNull) return [];
    if (!Array.isArray(value)) throw mismatch(path, type, value);
    return value.map((item, index) => this.read(item, type.items, `${path}[${index}]`));
  };

  #readMap(value: unknown, type: ParsedType & { readonly kind: 'map' }, path: string): Map<unknown, unknown> {
    if (!isRecord(value)) throw mismatch(path, type, value);
    return new Map(
      Object.entries(value).map(([key, item]) => {
        const read = type.keys.kind === 'plain' && type.keys.name === 'bool' ? key === 'true' : key;
        return [this.read(read, type.keys, `${path} key`), this.read(item, type.values, `${path}.${key}`)];
      }),
    );
  }

  #readRecord(value: unknown, type: ParsedType & { readonly kind: 'object' }, path: string): TypedRecord {
    const known = this.#classes.get(type.name);
    if (known === undefined) throw new TypeError(`${path}: the environment has no object type ${type.name}`);
    if (value === null || value === undefined) return new known.type(known.fields, undefined, this.read, path);
    if (!isRecord(value)) throw mismatch(path, type, value);
    return new known.type(known.fields, value, this.read, path);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

const maxInt = 2n ** 63n - 1n;

function readPlain(value: unknown, type: ParsedType & { readonly kind: 'plain' }, path: string): unknown {
  switch (type.name) {
    case 'dyn':
      return readAny(value, path);
    case 'string':
      if (typeof value === 'string') return value;
      break;
    case 'bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'double':
      if (typeof value === 'number') return value;
      break;
    case 'bytes':
      if (value instanceof Uint8Array) return value;
      break;
    case 'int':
    case 'uint': {
      const integer = integerOf(value);
      if (integer === undefined) break;
      if (type.name === 'uint' && integer >= 0n && integer <= maxInt * 2n + 1n) return new UnsignedInt(integer);
      if (type.name === 'int' && integer <= maxInt && integer >= -maxInt - 1n) return integer;
      break;
    }
    case 'timestamp': {
      const date = value instanceof Date ? value : typeof value === 'string' ? parseTimestamp(value) : undefined;
      if (date !== undefined && !Number.isNaN(date.getTime())) return date;
      break;
    }
    case 'duration': {
      const duration = typeof value === 'string' ? parseDuration(value) : undefined;
      if (duration !== undefined) return duration;
      break;
    }
  }
  throw mismatch(path, type, value);
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

/** A value without a declared type: objects become maps, numbers are doubles and BigInt are integers. */
function readAny(value: unknown, path: string): unknown {
  if (value === undefined) return null;
  if (value === null || value instanceof Date || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map((item, index) => readAny(item, `${path}[${index}]`));
  if (isRecord(value))
    return new Map(Object.entries(value).map(([key, item]) => [key, readAny(item, `${path}.${key}`)]));
  if (['string', 'number', 'bigint', 'boolean'].includes(typeof value)) return value;
  throw new CelFailure('wrong_type', `${path} is a ${typeof value}, which no expression can read.`);
}

function mismatch(path: string, type: ParsedType, value: unknown): CelFailure {
  const name = type.kind === 'plain' || type.kind === 'object' ? type.name : type.kind;
  const found = value === null || value === undefined ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return new CelFailure('wrong_type', `${path} is ${found}; its type is ${name}.`);
}
