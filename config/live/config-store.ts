import { pendingCapability } from '../objects/pending.ts';
import { createHash } from 'node:crypto';
import { changedLeaves, describeChange, merge, needsRestart, type Change } from './changed-leaves.ts';
import { leafByPath, valueAt } from '../objects/leaf.ts';
import { loadConfiguration, type LoadedConfiguration, type LoadOptions } from '../reading/load-configuration.ts';
import { ConfigurationError, type Problem } from '../schema/config-problem.ts';
import { recordingView, type View } from './recording-view.ts';
import type { Config } from '../objects/root.ts';
import { brokenRules } from '../reading/check-rules.ts';

/** The part of a pino logger that the store uses. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Options of a store. */
export interface StoreOptions extends LoadOptions {
  readonly logger: Logger;
  /** For tests: called with the path of every leaf that is read through `current` or in a subscriber. */
  readonly record?: (leafPath: string) => void;
}

/** The result of a reload. */
export type ReloadReport =
  | { readonly outcome: 'unchanged' }
  | { readonly outcome: 'changed'; readonly changes: readonly Change[]; readonly waiting: readonly string[] }
  | { readonly outcome: 'refused'; readonly problems: readonly Problem[] };

/** Called after the configuration was replaced. */
export type Listener = (next: Config, previous: Config) => void;

const unwrapped: View = (config) => config;

/**
 * The running configuration. `current` is a frozen object that is replaced as a whole, so a reader never sees a partial
 * change. A field that requires a restart keeps its running value. A configuration with problems is not used.
 */
export class ConfigStore {
  readonly #options: StoreOptions;
  readonly #view: View;
  readonly #subscriptions = new Set<{ readonly keys: readonly string[]; readonly listener: Listener }>();
  #running: Config;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #reloading: Promise<ReloadReport> | undefined;
  /** Digest of the last logged problems, so that the same problems are logged once. */
  #refusal: string | undefined;
  /** Fields that wait for a restart and were logged: path → digest of the new value. */
  readonly #waiting = new Map<string, string>();

  private constructor(options: StoreOptions, loaded: LoadedConfiguration) {
    this.#options = options;
    this.#running = loaded.config;
    this.#view = options.record === undefined ? unwrapped : recordingView(options.record);
  }

  /** Loads the configuration. Throws a `ConfigurationError` when it has problems. */
  static async open(options: StoreOptions): Promise<ConfigStore> {
    const loaded = await loadConfiguration(options);
    for (const path of loaded.noEffect) {
      const capability = pendingCapability(path);
      const why = capability === undefined ? describe(path) : `It has no effect yet (${capability}); remove it.`;
      options.logger.warn({ field: path }, `${path} is set. ${why}`);
    }
    return new ConfigStore(options, loaded);
  }

  /** The running configuration, deeply frozen. Read it each time; do not store it, because a reload replaces it. */
  get current(): Config {
    return this.#view(this.#running);
  }

  /**
   * Calls `listener` after every reload that changed something at or below `path` (`server.cors`, `refreshinterval`;
   * `''` for anything). Returns a function that ends the subscription.
   */
  subscribe(path: string, listener: Listener): () => void {
    const subscription = { keys: path === '' ? [] : path.split('.'), listener };
    if (path !== '' && valueAt(this.#running, subscription.keys) === undefined)
      throw new TypeError(`No configuration at ${path}`);
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /** Starts reloading every `refreshinterval`. The timer does not keep the process alive. */
  start(): void {
    this.#isStarted = true;
    this.#arm();
  }

  /** Stops reloading. */
  close(): void {
    this.#isStarted = false;
    clearTimeout(this.#timer);
  }

  /** Reads the configuration again and applies the changes that need no restart. Problems are logged and returned, not thrown. */
  reload(): Promise<ReloadReport> {
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
      this.#arm();
    });
    return this.#reloading;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (!this.#isStarted) return;
    this.#timer = setTimeout(() => {
      this.reload().catch((error: unknown) =>
        this.#options.logger.error({ err: error }, 'Reload of the configuration failed'),
      );
    }, this.#running.refreshinterval);
    this.#timer.unref();
  }

  async #reload(): Promise<ReloadReport> {
    let next: Config;
    try {
      next = (await loadConfiguration(this.#options)).config;
    } catch (error) {
      if (error instanceof ConfigurationError) return this.#refuse(error);
      throw error;
    }
    const previous = this.#running;
    const changed = changedLeaves(previous, next);
    const kept = changed.filter(needsRestart);
    const merged = merge(previous, next, kept);
    const broken = kept.length === 0 ? [] : brokenRules(merged);
    if (broken.length > 0) return this.#refuse(new ConfigurationError(broken));
    this.#refusal = undefined;
    this.#logWaiting(
      kept.map((leaf) => ({
        path: leaf.path,
        change: describeChange(leaf, previous, next),
        value: valueAt(next, leaf.keys),
      })),
    );
    const waiting = kept.map((leaf) => leaf.path);
    const changes = changed.filter((leaf) => !needsRestart(leaf)).map((leaf) => describeChange(leaf, previous, next));
    if (changes.length === 0)
      return waiting.length === 0 ? { outcome: 'unchanged' } : { outcome: 'changed', changes, waiting };
    this.#running = merged;
    this.#options.logger.info(
      { changes },
      `Configuration reloaded: ${changes.map((change) => change.path).join(', ')}`,
    );
    this.#notify(previous, merged);
    return { outcome: 'changed', changes, waiting };
  }

  #refuse(error: ConfigurationError): ReloadReport {
    const said = digest(error.message);
    if (said !== this.#refusal) {
      this.#options.logger.error({ problems: error.problems }, `${error.message}\nThe running configuration is kept.`);
    }
    this.#refusal = said;
    return { outcome: 'refused', problems: error.problems };
  }

  #logWaiting(waiting: readonly { path: string; change: Change; value: unknown }[]): void {
    const paths = new Set(waiting.map(({ path }) => path));
    for (const path of [...this.#waiting.keys()].filter((known) => !paths.has(known))) this.#waiting.delete(path);
    for (const { path, change, value } of waiting) {
      const said = digest(JSON.stringify(value) ?? '');
      if (this.#waiting.get(path) !== said)
        this.#options.logger.warn({ change }, `${path} takes effect after a restart`);
      this.#waiting.set(path, said);
    }
  }

  #notify(previous: Config, next: Config): void {
    for (const { keys, listener } of this.#subscriptions) {
      // After a merge, equal parts are the same object.
      if (valueAt(previous, keys) === valueAt(next, keys)) continue;
      try {
        listener(this.#view(next), this.#view(previous));
      } catch (error) {
        this.#options.logger.error({ err: error, field: keys.join('.') }, 'A subscriber to the configuration failed');
      }
    }
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function describe(path: string): string {
  return leafByPath.get(path)?.field.description ?? '';
}
