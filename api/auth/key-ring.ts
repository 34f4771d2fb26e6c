import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { SerialQueue } from '#entities/kit/base/concurrency/serial-queue.ts';
import { StartError } from '#runtime/start-error.ts';
import type { KeySource } from './key-source.ts';
import { KeyProblem, type SigningKey } from './signing-key.ts';
import { signingKeys, type SigningChoice, type SigningKeys } from './signing-keys.ts';

/** Time between two polls of the sources, in milliseconds. */
const pollMs = 1_000;

/** Least time between two polls that unknown key ids cause, in milliseconds. */
const urgentEveryMs = 5_000;

/** Pause before a source that cannot be reached at start is asked again, in milliseconds. */
const retryMs = 500;

interface KeyRingOptions {
  /** Of several keys of one id, that of the first source is used. */
  readonly sources: readonly KeySource[];
  readonly choice: () => SigningChoice;
  /** How long the start waits for sources that cannot be reached, in milliseconds. */
  readonly timeoutMs: number;
  readonly logger: Logger;
}

interface Problem {
  readonly text: string;
  /** Texts of one key are logged as one. */
  readonly key: string;
  /** The server does not start with it. */
  readonly isFatal: boolean;
  readonly isTemporary: boolean;
}

function problem(text: string, { key = text, isFatal = false, isTemporary = false } = {}): Problem {
  return { text, key, isFatal, isTemporary };
}

/**
 * The signing keys of all sources. A key that cannot be read any more stays as it was, and so do all keys of a source that cannot
 * be reached; the reason is logged once.
 */
export class KeyRing {
  readonly #options: KeyRingOptions;
  readonly #polls = new SerialQueue();
  /** By source, in their order: the usable keys as of the last poll, by id. */
  readonly #held: Map<KeySource, ReadonlyMap<string, SigningKey>>;
  #reported: ReadonlySet<string> = new Set();
  #current: SigningKeys | undefined;
  #identity = '';
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #urgentAt = Number.NEGATIVE_INFINITY;

  private constructor(options: KeyRingOptions) {
    this.#options = options;
    this.#held = new Map(options.sources.map((source) => [source, new Map()]));
  }

  /** Loads the keys and follows their sources until `stop`. @throws StartError with the key and what to do */
  static async load(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options);
    await ring.#load();
    if (options.sources.some(({ isWatched }) => isWatched)) ring.#arm();
    return ring;
  }

  /** The keys in use; another object when they have changed. */
  get current(): SigningKeys {
    if (!this.#current) throw new Error('the signing keys are not loaded');
    return this.#current;
  }

  /** Looks at the sources now, for a change of the configuration. */
  poll(): Promise<void> {
    return this.#polls.run(() => this.#poll(false));
  }

  /** Looks at watched sources because a token names an unknown key: another process may know it already. */
  async pollUrgently(): Promise<void> {
    if (performance.now() < this.#urgentAt + urgentEveryMs) return;
    if (!this.#options.sources.some(({ isWatched }) => isWatched)) return;
    this.#urgentAt = performance.now();
    await this.#polls.run(() => this.#poll(true));
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = setTimeout(() => {
      this.poll()
        .catch((error: unknown) =>
          this.#options.logger.error({ err: error }, 'the signing keys could not be read again'),
        )
        .finally(() => !this.#isStopped && this.#arm());
    }, pollMs).unref();
  }

  async #load(): Promise<void> {
    const giveUpAt = Date.now() + this.#options.timeoutMs;
    for (;;) {
      const problems = await this.#gather(false);
      const fatal = problems.find(({ isFatal }) => isFatal);
      if (fatal) throw new StartError(`${fatal.text}.`);
      if (problems.some(({ isTemporary }) => isTemporary) && Date.now() < giveUpAt) {
        this.#report(problems);
        await pause(retryMs);
        continue;
      }
      problems.push(...this.#use());
      if (!this.#current) throw new StartError(problems.map(({ text }) => `${text}.`).join(' '));
      this.#report(problems);
      return;
    }
  }

  async #poll(isUrgent: boolean): Promise<void> {
    const problems = await this.#gather(isUrgent);
    this.#report([...problems, ...this.#use()]);
  }

  /** Reads all sources into `#held`. */
  async #gather(isUrgent: boolean): Promise<Problem[]> {
    const problems = await Promise.all(this.#options.sources.map((source) => this.#readSource(source, isUrgent)));
    return problems.flat();
  }

  async #readSource(source: KeySource, isUrgent: boolean): Promise<Problem[]> {
    const isFatal = source.isStrict ?? false;
    try {
      const found = await source.read(isUrgent);
      const before = this.#held.get(source);
      const keys = found.flatMap((one) => ('key' in one ? [one.key] : (before?.get(one.kid) ?? [])));
      this.#held.set(source, new Map(keys.map((key) => [key.kid, key])));
      return found.flatMap((one) => ('problem' in one ? [problem(`${one.place} ${one.problem}`, { isFatal })] : []));
    } catch (error) {
      if (!(error instanceof KeyProblem)) throw error;
      const { isTemporary, message } = error;
      return [problem(`${source.name} ${message}`, { key: source.name, isFatal, isTemporary })];
    }
  }

  /** Puts the keys that are held to use. Without one that may sign, those in use stay. */
  #use(): Problem[] {
    const choice = this.#options.choice();
    const { keys, problems } = this.#merged();
    const next = signingKeys(keys, choice);
    if (!next) return [...problems, problem(this.#missingKey(choice, keys))];
    const identity = JSON.stringify([choice, keys.map(({ kid, thumbprint, addedAt }) => [kid, thumbprint, addedAt])]);
    if (identity === this.#identity) return problems;
    if (this.#current) this.#options.logger.info({ kids: keys.map(({ kid }) => kid) }, 'signing keys have changed');
    this.#identity = identity;
    this.#current = next;
    return problems;
  }

  /** The keys of all sources, each id once. */
  #merged(): { readonly keys: readonly SigningKey[]; readonly problems: Problem[] } {
    const byKid = new Map<string, SigningKey>();
    const problems: Problem[] = [];
    for (const [source, held] of this.#held)
      for (const key of held.values()) {
        const other = byKid.get(key.kid);
        if (!other) byKid.set(key.kid, key);
        else if (other.thumbprint !== key.thumbprint)
          problems.push(problem(`${source.name} has a key with the id of another one, "${key.kid}"; rename it`));
      }
    return { keys: [...byKid.values()], problems };
  }

  #missingKey({ kid }: SigningChoice, keys: readonly SigningKey[]): string {
    const names = this.#options.sources.map(({ name }) => name).join(' and ');
    const kids = keys.map((key) => key.kid).join(', ');
    return `auth.token.kid is "${kid}", but ${names} ${kids === '' ? 'has no usable key' : `has only ${kids}`}: add that key`;
  }

  /** Logs what was not logged at the last poll. */
  #report(problems: readonly Problem[]): void {
    for (const { key, text } of problems)
      if (!this.#reported.has(key))
        this.#options.logger.error(
          `signing key that cannot be used; the keys that were read before stay in use: ${text}`,
        );
    this.#reported = new Set(problems.map(({ key }) => key));
  }
}
