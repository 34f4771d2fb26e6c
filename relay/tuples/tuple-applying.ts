import type { Logger } from 'pino';
import type { CommitSummary } from '#entities/kit/model/work-context.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { TupleRelay } from './tuple-relay.ts';

/** Longest time a response waits for changed rights to reach the authorization store, in milliseconds. */
const timeoutMs = 250;

/** Time in which tuples of new records are collected, to be written together, in milliseconds. */
const collectMs = 100;

/**
 * Applies tuples after a commit (docs/decisions/tuples-after-the-response.md). When rights to existing records changed, the response
 * waits for it. Tuples of new records are collected and written a moment later; a check that needs them sooner applies them
 * itself.
 */
export class TupleApplying {
  readonly #tuples: Pick<TupleRelay, 'apply'>;
  readonly #logger: Logger;
  #collecting: NodeJS.Timeout | undefined;

  constructor(tuples: Pick<TupleRelay, 'apply'>, logger: Logger) {
    this.#tuples = tuples;
    this.#logger = logger;
  }

  /** The request is committed and succeeds in any case; the sweep applies what could not be applied in time. */
  async afterCommit({ tupleChanges, hasChangedRights }: CommitSummary): Promise<void> {
    if (tupleChanges === 0) return;
    if (hasChangedRights) await withTimeout(this.#apply(), timeoutMs, () => undefined);
    else this.#collecting ??= setTimeout(() => void this.#applyCollected(), collectMs).unref();
  }

  /** Other processes apply what is left. */
  stop(): void {
    clearTimeout(this.#collecting);
  }

  async #applyCollected(): Promise<void> {
    this.#collecting = undefined;
    await this.#apply();
  }

  async #apply(): Promise<void> {
    try {
      await this.#tuples.apply();
    } catch (error) {
      this.#logger.warn({ err: error }, 'permission tuples stay pending: the authorization store did not accept them');
    }
  }
}
