import { createRemoteJWKSet, customFetch, errors, type JWSHeaderParameters, type FlattenedJWSInput } from 'jose';
import type { Logger } from 'pino';
import type { Clock } from '#entities/kit/base/clock.ts';

/** Maximum size of a key set in bytes. */
const maxBytes = 262_144;

/** Maximum time of one request, in milliseconds. */
const timeoutMs = 3_000;

/** Least time between two requests that failures or unknown key ids cause, in milliseconds. */
const pauseMs = 30_000;

interface RemoteKeysOptions {
  /** Configuration `auth.token.jwksendpoint`. */
  readonly url: URL;
  /** How long a key set is believed (`auth.token.jwkscachettl`), in milliseconds. */
  readonly cacheTtlMs: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The public keys of another server that signs tokens for this one. While it cannot be reached, its last known keys stay valid. Tokens with
 * unknown keys do not cause more than one request in each `pauseMs`.
 */
export class RemoteKeys {
  readonly #options: RemoteKeysOptions;
  /** Never asks by itself once it has keys: neither for age nor for unknown keys. */
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    this.#remote = createRemoteJWKSet(options.url, {
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: Number.POSITIVE_INFINITY,
      timeoutDuration: timeoutMs,
      [customFetch]: fetchLimited,
    });
  }

  /** @throws JOSEError when the set has no key for the token */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#now() >= this.#loadedAt + this.#options.cacheTtlMs()) await this.#ask();
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#ask())) throw error;
      return this.#known(header, token);
    }
  }

  async #known(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.#remote.jwks() === undefined) throw new errors.JWKSNoMatchingKey();
    try {
      const key = await this.#remote(header, token);
      // jose refuses such keys with an error that looks like a bug of ours.
      if ('modulusLength' in key.algorithm && Number(key.algorithm.modulusLength) < 2_048)
        throw new errors.JWKSInvalid('an RSA key of less than 2048 bits');
      return key;
    } catch (error) {
      if (error instanceof errors.JOSEError) throw error;
      throw new errors.JWKSInvalid('a key that cannot be imported', { cause: error });
    }
  }

  /** Fetches the key set, unless it was asked for a short time ago. @returns whether there is a new one */
  async #ask(): Promise<boolean> {
    if (this.#remote.reloading) {
      await this.#remote.reload().catch(() => {});
      return !this.#isFailing;
    }
    if (this.#now() < this.#askedAt + pauseMs && this.#now() >= this.#askedAt) return false;
    this.#askedAt = this.#now();
    try {
      await this.#remote.reload();
      this.#loadedAt = this.#now();
      if (this.#isFailing) this.#options.logger.info('auth.token.jwksendpoint answers again');
      this.#isFailing = false;
      return true;
    } catch (error) {
      if (!this.#isFailing)
        this.#options.logger.error(
          { err: error },
          'auth.token.jwksendpoint returns no key set; the last known keys stay valid',
        );
      this.#isFailing = true;
      return false;
    }
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

/** @throws TypeError for an answer that is too large */
async function fetchLimited(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // Leaving the loop ends the transfer.
    if (size > maxBytes) throw new TypeError(`the key set has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(status === 200 ? Buffer.concat(chunks) : null, { status: status < 200 ? 500 : status, headers });
}
