import { LRUCache } from 'lru-cache';
import type { Config } from '#config/objects/root.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import { encryptionKeys, isSignedBy, sign } from '#entities/kit/base/secrets/keys.ts';

/** Purpose of a link; none is accepted for another purpose. */
type LinkPurpose = 'download' | 'upload' | 'portal';

const dayMs = 86_400_000;

/** Maximum lifetime of a link in seconds: keys of other days than yesterday, today and tomorrow are not accepted. */
export const maxLinkSeconds = 86_400;

/** Before anything of a token is computed. */
const maxLength = 2_048;

const form = /^v1\.([0-9a-f]{12}-(?:0|[1-9]\d{0,6}))\.([\w-]+)\.([\w-]{43})$/;

/**
 * Tokens of links: `v1.<key>.<content>.<signature>`. The signature (HMAC-SHA256) covers the purpose and the text before it as it
 * is sent, so nothing can be moved or written in another way. Each day has a key of its own, which follows from `sessions.encryptionkey`.
 */
export class SignedLinks {
  readonly #secrets: () => Config['sessions'];
  readonly #clock: Clock;
  readonly #keysOfDays = new LRUCache<string, Buffer>({ max: 16 });

  constructor(secrets: () => Config['sessions'], clock: Clock) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** @param content is JSON; everybody who has the link can read it */
  issue(purpose: LinkPurpose, content: readonly unknown[]): string {
    const [{ id, key }] = this.#keys;
    const keyId = `${id}-${this.#today}`;
    const text = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `v1.${keyId}.${text}.${sign(this.#keyOfDay(keyId, key), [purpose, keyId, text]).toString('base64url')}`;
  }

  /** The content of a token that this server has issued for the purpose; undefined for any other text. */
  open(purpose: LinkPurpose, token: string): readonly unknown[] | undefined {
    if (token.length > maxLength) return undefined;
    const [, keyId, text, signature] = form.exec(token) ?? [];
    if (keyId === undefined || text === undefined || signature === undefined) return undefined;
    const [id, day] = keyId.split('-');
    const key = this.#keys.find((each) => each.id === id)?.key;
    // The clock of the process that issued it may be ahead.
    if (!key || Math.abs(this.#today - Number(day)) > 1) return undefined;
    if (!isSignedBy(this.#keyOfDay(keyId, key), [purpose, keyId, text], signature)) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as readonly unknown[];
  }

  get #keys() {
    return encryptionKeys(this.#secrets().encryptionkey, 'file-link');
  }

  get #today(): number {
    return Math.floor(this.#clock.now().getTime() / dayMs);
  }

  #keyOfDay(keyId: string, key: Buffer): Buffer {
    const known = this.#keysOfDays.get(keyId) ?? sign(key, ['day', keyId]);
    this.#keysOfDays.set(keyId, known);
    return known;
  }
}
