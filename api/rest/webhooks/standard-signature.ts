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

/** Whether a request has the headers of Standard Webhooks, with a time near ours: others are refused before a secret is looked up. */
export const hasTimelyHeaders = ({ headers }: RawDelivery, now: Date): boolean =>
  signatureIn(headers, 'webhook', now) !== undefined;

type Prefix = 'webhook' | 'svix';

/**
 * HMAC-SHA256 over id, time and body, with the base64 of a secret after `whsec_`. Every signature is compared in constant time.
 * @param prefix of the headers
 */
function signedWith(prefix: Prefix) {
  return ({ headers, body }: RawDelivery, secret: string, now: Date): boolean => {
    const signature = signatureIn(headers, prefix, now);
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    if (!signature || key.length < minKeyBytes) return false;
    const { id, timestamp, signatures } = signature;
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    let isSigned = false;
    for (const one of signatures.split(' ').slice(0, maxSignatures)) {
      const [version, value = ''] = one.split(',', 2);
      const given = Buffer.from(value, 'base64');
      if (version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)) isSigned = true;
    }
    return isSigned;
  };
}

/** The values of the headers; undefined when one is missing, or the time is too far from ours. */
function signatureIn(headers: RawDelivery['headers'], prefix: Prefix, now: Date) {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => headers[`${prefix}-${name}`]);
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return undefined;
  if (!/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(Number(timestamp) - now.getTime() / 1_000) > toleranceS) return undefined;
  return { id, timestamp, signatures };
}
