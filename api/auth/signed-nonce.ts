import { randomTextPooled } from '#entities/kit/base/secrets/random-pool.ts';
import { isSignedBy, sign } from '#entities/kit/base/secrets/keys.ts';

/**
 * A random value that only this server can have made, and only for this subject: the session of a CSRF token, the account of a known
 * browser. It names no subject, and stands for none elsewhere.
 * @returns `nonce.signature`, in base64url: 16 and 32 bytes
 */
export function newSignedNonce(key: Buffer, subject: string): string {
  const nonce = randomTextPooled(16, 'base64url');
  return `${nonce}.${sign(key, [nonce, subject]).toString('base64url')}`;
}

export function isSignedNonce(key: Buffer, subject: string, value: string): boolean {
  const [nonce, signature, ...rest] = value.split('.');
  return (
    rest.length === 0 && nonce?.length === 22 && signature !== undefined && isSignedBy(key, [nonce, subject], signature)
  );
}
