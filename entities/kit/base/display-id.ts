import { createHash } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Characters after the prefix: 40 bits, so that less than one collision is expected among a million records of one kind. */
const length = 8;

/** The display id of a record: its prefix, and base 32 (RFC 4648) of a hash of its id. */
export function displayIdOf(prefix: string, id: string): string {
  const hash = createHash('sha256').update(id).digest();
  return `${prefix}-${Array.from({ length }, (_none, index) => letters[(hash[index] as number) & 31]).join('')}`;
}
