import { decodeTime, encodeTime, monotonicFactory } from 'ulid';
import { randomFraction } from './secrets/random-pool.ts';

const nextUlid = monotonicFactory(randomFraction);

/** Crockford base 32, 26 characters, first at most 7 (128 bits): the ULID specification's canonical form. */
export const idPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** A new ULID, monotonic within this process: ids made later sort later. @param timeMs milliseconds since the epoch; default now. */
export function newId(timeMs?: number): string {
  return nextUlid(timeMs);
}

export function isId(value: unknown): value is string {
  return typeof value === 'string' && idPattern.test(value);
}

/** When an id was made. @param id well-formed */
export function timeOfId(id: string): Date {
  return new Date(decodeTime(id));
}

/** The least id of an instant: those that sort before it were made before. */
export function firstIdAt(at: Date): string {
  return `${encodeTime(at.getTime())}${'0'.repeat(16)}`;
}
