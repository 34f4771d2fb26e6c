import type { Clock } from '#entities/kit/base/clock.ts';
import type { FoundKey, KeySource } from './key-source.ts';
import { KeyProblem, signingKeyFrom } from './signing-key.ts';

/** Time between two requests to the secret manager, in milliseconds. */
const askEveryMs = 60_000;

/** The same after a request that failed. */
const askAgainMs = 5_000;

/** A version of the secret; the higher, the newer. */
interface KeyVersion {
  readonly version: number;
  /** PEM text. */
  readonly text: string;
}

/** The keys in the versions of the secret that `server.secretmanager` names. The id of a key is `<secret>-<version>`. */
export class SecretKeys implements KeySource {
  readonly name = 'server.secretmanager';
  readonly isWatched = true;
  readonly #prefix: string;
  readonly #versions: () => Promise<readonly KeyVersion[]>;
  readonly #clock: Clock;
  /** When a version was first seen here. Those of the start are old, so that the newest one signs at once. */
  readonly #addedAt = new Map<number, Date>();
  #found: readonly FoundKey[] | undefined;
  #problem: unknown;
  #askAt = Number.NEGATIVE_INFINITY;

  /** @param versions the newest versions of the secret; a rejection has a message for operators and may have `isTemporary` */
  constructor(secret: string, versions: () => Promise<readonly KeyVersion[]>, clock: Clock) {
    this.#prefix = secret.slice(secret.lastIndexOf('/') + 1);
    this.#versions = versions;
    this.#clock = clock;
  }

  async read(isUrgent: boolean): Promise<readonly FoundKey[]> {
    if (isUrgent || !this.#found || performance.now() >= this.#askAt) await this.#ask();
    if (this.#problem) throw this.#problem;
    return this.#found ?? [];
  }

  async #ask(): Promise<void> {
    try {
      const versions = await this.#versions();
      this.#found = await Promise.all(versions.map((version) => this.#foundKey(version)));
      this.#problem = undefined;
    } catch (error) {
      const { message, isTemporary } = error as { readonly message?: string; readonly isTemporary?: boolean };
      this.#problem = new KeyProblem(`gives no key (${message})`, { isTemporary: isTemporary ?? false, cause: error });
    }
    this.#askAt = performance.now() + (this.#problem ? askAgainMs : askEveryMs);
  }

  async #foundKey({ version, text }: KeyVersion): Promise<FoundKey> {
    const addedAt = this.#addedAt.get(version) ?? (this.#found ? this.#clock.now() : new Date(version));
    this.#addedAt.set(version, addedAt);
    const kid = `${this.#prefix}-${version}`;
    const place = `server.secretmanager: version ${version}`;
    try {
      return { kid, place, key: await signingKeyFrom(kid, text, addedAt) };
    } catch (error) {
      if (error instanceof KeyProblem) return { kid, place, problem: error.message };
      throw error;
    }
  }
}
