import { createSecretKey, type webcrypto } from 'node:crypto';
import { CompactEncrypt, compactDecrypt, errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { deriveKey, encryptionKeys } from '#entities/kit/base/secrets/keys.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { isCompactForm } from './signed-tokens.ts';

/** Header `typ` of the signed part. */
const signedType = 'session+jwt';

/** Maximum length of a value in characters; ours have about 400. */
const maxLength = 1_024;

/** Maximum number of opened cookies that are remembered. */
const maxOpened = 10_000;

type Settings = Pick<Config['sessions'], 'signingkey' | 'encryptionkey' | 'maxage'>;

// Keys as jose uses them: importing one takes it half as long as using it.
const signatureKey = onceForEach((key: Buffer): webcrypto.CryptoKey =>
  createSecretKey(key).toCryptoKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']),
);
const cipherKey = onceForEach((key: Buffer): webcrypto.CryptoKey =>
  createSecretKey(key).toCryptoKey('AES-GCM', false, ['encrypt', 'decrypt']),
);

interface Opened {
  readonly sessionId: string;
  readonly expiresAt: number;
  readonly secrets: string;
}

/**
 * The session cookie of a browser: the id of its session, signed with `sessions.signingkey` and encrypted with
 * `sessions.encryptionkey` (a nested JWT, RFC 7519, section 2). It ends after `sessions.maxage`, whatever the browser does with it.
 */
export class SessionCookies {
  readonly #settings: () => Settings;
  readonly #clock: Clock;
  readonly #opened = new LRUCache<string, Opened>({ max: maxOpened });

  constructor(settings: () => Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  async seal(sessionId: string): Promise<string> {
    const { signingkey, encryptionkey, maxage } = this.#settings();
    const now = this.#clock.now();
    const signed = await new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: 'HS256', typ: signedType })
      .setExpirationTime(new Date(now.getTime() + maxage * 1_000))
      .sign(signatureKey(deriveKey(signingkey, 'session-signature')));
    const [{ id, key }] = encryptionKeys(encryptionkey, 'session-encryption');
    return new CompactEncrypt(Buffer.from(signed))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', cty: 'JWT', kid: id })
      .encrypt(cipherKey(key));
  }

  /** The id of the session; undefined for a value that this server has not made, or that has expired. */
  async open(value: string): Promise<string | undefined> {
    if (value.length > maxLength || !isCompactForm(value, 5)) return undefined;
    const { signingkey, encryptionkey } = this.#settings();
    const now = this.#clock.now();
    const secrets = `${signingkey} ${encryptionkey}`;
    const known = this.#opened.get(value);
    if (known?.secrets === secrets && now.getTime() < known.expiresAt) return known.sessionId;
    try {
      const keys = encryptionKeys(encryptionkey, 'session-encryption');
      const { plaintext } = await compactDecrypt(
        value,
        ({ kid }) => cipherKey((keys.find(({ id }) => id === kid) ?? keys[0]).key),
        { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
      );
      const { payload } = await jwtVerify(plaintext, signatureKey(deriveKey(signingkey, 'session-signature')), {
        algorithms: ['HS256'],
        typ: signedType,
        currentDate: now,
        requiredClaims: ['exp', 'sid'],
      });
      const { sid, exp } = payload as { readonly sid: unknown; readonly exp: number };
      if (!isId(sid)) return undefined;
      this.#opened.set(value, { sessionId: sid, expiresAt: exp * 1_000, secrets });
      return sid;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}
