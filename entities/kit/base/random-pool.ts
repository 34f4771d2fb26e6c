import { randomFillSync } from 'node:crypto';

/** Random bytes drawn ahead: asking the system for a few at a time costs more than all else that is done with them. */
const pool = Buffer.alloc(8_192);
let used = pool.length;

/** So many random bytes of the system's generator, each handed out once. At most 1,024. */
export function randomBytesPooled(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // What was handed out stays nowhere else.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

/** A random number from 0 to less than 1, with the 8 bits that a letter of an id needs. */
export function randomFraction(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.readUInt8(used++) / 256;
}
