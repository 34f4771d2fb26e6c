import { randomFillSync } from 'node:crypto';

/** Random bytes drawn in advance: a system call for each few bytes would cost more than creating the id that needs them. */
const pool = Buffer.alloc(8_192);
let used = pool.length;

/** Random bytes of the system's generator; no byte is handed out twice. @param count at most 8,192 */
export function randomBytesPooled(count: number): Buffer {
  const start = reserve(count);
  const bytes = Buffer.from(pool.subarray(start, used));
  // The copy in the pool is erased, since the bytes can become a secret.
  pool.fill(0, start, used);
  return bytes;
}

/** The same as text. */
export function randomTextPooled(count: number, encoding: 'hex' | 'base64url'): string {
  const start = reserve(count);
  const text = pool.toString(encoding, start, used);
  pool.fill(0, start, used);
  return text;
}

/** A random number from 0 to less than 1 with 8 bits of randomness, enough for one base 32 character of an id. */
export function randomFraction(): number {
  return pool.readUInt8(reserve(1)) / 256;
}

/** @returns where the reserved bytes begin; they end at `used` */
function reserve(count: number): number {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += count;
  return used - count;
}
