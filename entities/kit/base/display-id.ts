import { createHash } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Letters behind the prefix: 40 bits, so that an organization with a million records of a kind sees one clash at the most. */
const length = 8;

/** The short name of a record: prefix and base 32 (RFC 4648) of a hash of its id. */
export function displayIdOf(prefix: string, id: string): string {
  const hash = createHash('sha256').update(id).digest();
  return `${prefix}-${Array.from({ length }, (_none, place) => letters[(hash[place] as number) & 31]).join('')}`;
}
