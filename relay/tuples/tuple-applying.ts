import type { Logger } from 'pino';
import type { CommitSummary } from '#entities/kit/model/work-context.ts';
import type { TupleRelay } from './tuple-relay.ts';

/** Longest the answer waits for changed rights to reach the authorization store, in milliseconds. */
const patienceMs = 250;

/** How long tuples of new records wait for others to go along with, in milliseconds. */
const gatheringMs = 100;

/**
 * Has tuples applied after a commit (docs/decisions/tuples-of-new-records.md): the answer waits when rights about existing records
 * changed. Those of new records follow together with others; a decision that needs them before has them applied itself.
 */
export class TupleApplying {
  readonly #tuples: Pick<TupleRelay, 'apply'>;
  readonly #logger: Logger;
  #gathering: NodeJS.Timeout | undefined;

  constructor(tuples: Pick<TupleRelay, 'apply'>, logger: Logger) {
    this.#tuples = tuples;
    this.#logger = logger;
  }

  /** The request is committed, so it is answered in any case; what is not applied in time the sweep applies. */
  async afterCommit({ tupleChanges, hasChangedRights }: CommitSummary): Promise<void> {
    if (tupleChanges === 0) return;
    if (hasChangedRights) await this.#applyWithPatience();
    else this.#gathering ??= setTimeout(() => void this.#applyGathered(), gatheringMs).unref();
  }

  /** What has not been applied is left to other processes. */
  stop(): void {
    clearTimeout(this.#gathering);
  }

  async #applyGathered(): Promise<void> {
    this.#gathering = undefined;
    await this.#apply();
  }

  async #applyWithPatience(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([this.#apply(), patience]);
    clearTimeout(timer);
  }

  async #apply(): Promise<void> {
    try {
      await this.#tuples.apply();
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'permission tuples wait in their rows: the authorization store did not take them',
      );
    }
  }
}
