import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RawDelivery } from './define-receiver.ts';

/** How far the time of a signature may be from ours, in seconds. */
const toleranceS = 300;

/** Smallest key, in bytes. A secret that decodes to nothing, such as the prefix alone, would let anybody sign. */
const minKeyBytes = 16;

/** Number of signatures that are compared: one for each secret during a rotation. */
const maxSignatures = 8;

/** Whether a request is signed as Standard Webhooks 1.0.0 describes it, with the headers `webhook-…`. */
export const hasStandardSignature = signedWith('webhook');

/** The same with the headers of the service Svix, where the standard comes from. */
export const hasSvixSignature = signedWith('svix');

/**
 * HMAC-SHA256 over id, time and body, with the base64 of a secret after `whsec_`. Every signature is compared in constant time.
 * @param prefix of the headers
 */
function signedWith(prefix: 'webhook' | 'svix') {
  return ({ headers, body }: RawDelivery, secret: string, now: Date): boolean => {
    const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`${prefix}-${name}`]);
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
    if (!/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(Number(timestamp) - now.getTime() / 1_000) > toleranceS) return false;
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    if (key.length < minKeyBytes) return false;
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    let isSigned = false;
    for (const signature of signatures.split(' ').slice(0, maxSignatures)) {
      const [version, value = ''] = signature.split(',', 2);
      const given = Buffer.from(value, 'base64');
      if (version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)) isSigned = true;
    }
    return isSigned;
  };
}
