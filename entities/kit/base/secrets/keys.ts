import { createHmac, createSecretKey, hash, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import { onceForEach } from '../once-for-each.ts';

/** Purpose of a derived key. Each purpose has its own key (RFC 5869, `info`). */
export type KeyPurpose =
  | 'csrf'
  | 'file-link'
  | 'idempotent-answer'
  | 'identity-provider-secret'
  | 'known-device'
  | 'one-time-token'
  | 'passkey-challenge'
  | 'record-secret'
  | 'refresh-successor'
  | 'session-encryption'
  | 'session-signature'
  | 'sign-in-state'
  | 'subscription-cursor'
  | 'tls-certificate'
  | 'totp-secret'
  | 'workflow-payload';

/** Keys by purpose and secret: requests need the same few again and again. */
const derived = new Map<string, Buffer>();

/** A 32-byte key for one purpose, derived with HKDF-SHA256 from a configured secret; the same buffer each time. */
export function deriveKey(secret: string, purpose: KeyPurpose): Buffer {
  const name = `${purpose} ${secret}`;
  const key = derived.get(name) ?? Buffer.from(hkdfSync('sha256', secret, 'core', purpose, 32));
  derived.set(name, key);
  return key;
}

/** A derived key, with an id by which what it encrypts names it. */
export interface EncryptionKey {
  readonly id: string;
  readonly key: Buffer;
}

/**
 * The keys of one purpose, for rotation: the first one encrypts, all of them decrypt.
 * @param secrets one secret, or several separated by commas, the newest first
 */
export function encryptionKeys(secrets: string, purpose: KeyPurpose): readonly [EncryptionKey, ...EncryptionKey[]] {
  const keys = secrets.split(',').map((secret) => {
    const key = deriveKey(secret.trim(), purpose);
    return { id: hash('sha256', key).slice(0, 12), key };
  });
  // `split` returns at least one part.
  return keys as [EncryptionKey, ...EncryptionKey[]];
}

/** The same keys in the form of the cryptographic library: preparing one takes ten times as long as the signature of a short text. */
const preparedKey = onceForEach((key: Buffer): KeyObject => createSecretKey(key));

/** HMAC-SHA256 over the parts, each preceded by its length, so that moving a boundary changes the result. @returns 32 bytes */
export function sign(key: Buffer, parts: readonly string[]): Buffer {
  const text = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return createHmac('sha256', preparedKey(key)).update(text).digest();
}

/** Whether `candidate` (base64url) is exactly the signature of the parts; constant time. */
export function isSignedBy(key: Buffer, parts: readonly string[], candidate: string): boolean {
  const expected = sign(key, parts);
  const given = Buffer.from(candidate, 'base64url');
  // Buffer.from ignores padding, whitespace and unused bits, so the text is compared with its canonical form as well.
  return (
    given.length === expected.length && timingSafeEqual(given, expected) && given.toString('base64url') === candidate
  );
}

/** Whether two texts are equal, of whatever lengths; constant time. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
