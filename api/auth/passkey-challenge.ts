import { deriveKey, isSignedBy, sign } from '#entities/kit/base/secrets/keys.ts';
import { randomBytesPooled } from '#entities/kit/base/secrets/random-pool.ts';

/** Purpose of a challenge; one of a registration is none of a sign-in. */
export type Ceremony = 'registration' | 'authentication';

/** For whom a challenge is made. */
export interface ChallengeBinding {
  readonly ceremony: Ceremony;
  /** The session that registers a passkey, or the browser that signs in. */
  readonly subject: string;
}

/** Bytes of its parts: time of issue in milliseconds, random bytes, signature. */
const sizes = { time: 6, nonce: 16, signature: 32 } as const;
const size = sizes.time + sizes.nonce + sizes.signature;

/**
 * The longest time for which a challenge is valid, in milliseconds, if no timeout is enforced. That it was used is remembered for at least
 * as long (`sign_in_failures`).
 */
export const maxChallengeAgeMs = 24 * 3_600_000;

/**
 * Makes a challenge that only this server can have made, for one session or browser (WebAuthn, section 13.4.3). Nothing is stored until
 * it is used, so that asking for challenges fills no table.
 * @param secret configuration `sessions.signingkey`
 */
export function newChallenge(secret: string, { ceremony, subject }: ChallengeBinding, now: Date): Buffer {
  const time = Buffer.alloc(sizes.time);
  time.writeUIntBE(now.getTime(), 0, sizes.time);
  const head = Buffer.concat([time, randomBytesPooled(sizes.nonce)]);
  return Buffer.concat([head, sign(keyOf(secret), [ceremony, subject, head.toString('base64url')])]);
}

/**
 * Whether a challenge is one of this server for this session or browser, and is still to be used. That it is used once is for the
 * database to decide.
 * @param challenge in base64url
 */
export function isValidChallenge(
  secret: string,
  { ceremony, subject }: ChallengeBinding,
  challenge: string,
  { now, maxAgeMs }: { readonly now: Date; readonly maxAgeMs: number },
): boolean {
  const bytes = Buffer.from(challenge, 'base64url');
  if (bytes.length !== size || bytes.toString('base64url') !== challenge) return false;
  const head = bytes.subarray(0, sizes.time + sizes.nonce);
  const signature = bytes.subarray(head.length).toString('base64url');
  if (!isSignedBy(keyOf(secret), [ceremony, subject, head.toString('base64url')], signature)) return false;
  const ageMs = now.getTime() - head.readUIntBE(0, sizes.time);
  return ageMs >= 0 && ageMs < maxAgeMs;
}

function keyOf(secret: string): Buffer {
  return deriveKey(secret, 'passkey-challenge');
}
