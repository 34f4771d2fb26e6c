import { randomFillSync } from 'node:crypto';

/** Random bytes drawn in advance: a system call for each few bytes would cost more than creating the id that needs them. */
const pool = Buffer.alloc(8_192);
let used = pool.length;

/** Random bytes of the system's generator; no byte is handed out twice. @param count at most 8,192 */
export function randomBytesPooled(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // The copy in the pool is erased, since the bytes can become a secret.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

/** A random number from 0 to less than 1 with 8 bits of randomness, enough for one base 32 character of an id. */
export function randomFraction(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.readUInt8(used++) / 256;
}
