import { randomBytes } from 'node:crypto';
import { sign } from '#entities/kit/base/secrets/keys.ts';

/** Without 0, 1, I and O, which people confuse. Its length divides 256, so each character is equally likely. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

export function newRecoveryCodes(count: number, length: number): string[] {
  return Array.from({ length: count }, () =>
    Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join(''),
  );
}

/**
 * Stored form of a recovery code: an HMAC under the secret of the authenticator app, which is encrypted, so a copy of the table alone
 * allows no guessing. Spaces, hyphens and case do not matter.
 */
export function recoveryCodeHash(secret: string, userId: string, code: string): string {
  const canonical = code.replaceAll(/[\s-]/g, '').toUpperCase();
  return sign(Buffer.from(secret), ['recovery-code', userId, canonical]).toString('base64url');
}
