import { randomBytesPooled } from '#entities/kit/base/random-pool.ts';
import { isSignedBy, sign } from '#entities/kit/base/keys.ts';

/**
 * Signed double-submit cookie (OWASP): a request must repeat the value of the cookie in a header. The signature binds it to the
 * session, so values that another site planted or that belong to another session are rejected.
 * @param sessionId `sid` of the access token in the cookie; empty before sign-in
 */
export function newCsrfToken(key: Buffer, sessionId: string): string {
  const nonce = randomBytesPooled(16).toString('base64url');
  return `${nonce}.${sign(key, [nonce, sessionId]).toString('base64url')}`;
}

export function isCsrfToken(key: Buffer, sessionId: string, token: string): boolean {
  const [nonce, signature, ...rest] = token.split('.');
  return (
    rest.length === 0 &&
    nonce?.length === 22 &&
    signature !== undefined &&
    isSignedBy(key, [nonce, sessionId], signature)
  );
}
