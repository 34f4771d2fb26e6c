import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { RepeatedWork } from '#entities/kit/base/concurrency/repeated-work.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { claimDueWork, wakeRow } from '#entities/kit/due-work/due-rows.ts';
import { pauseAfter, type DueItem, type DueWork, type RetrySchedule } from '#entities/kit/due-work/define-due-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { WorkflowContract } from '#workflows/kit/contract.ts';

/** The lanes of due work that are not paused. */
type OpenLanes = (work: DueWork) => readonly (string | undefined)[];

interface DueWorkRelayOptions {
  readonly database: Database;
  /** Over the connection of the workers, so that they begin at once what is started. */
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  readonly dueWork: readonly DueWork[];
  readonly contracts: readonly WorkflowContract<object>[];
  /** `workflows.dispatch.enabled`. While it is off, rows stay due. */
  readonly isEnabled: () => boolean;
  /** Read before every claim. */
  readonly openLanes: OpenLanes;
}

const maxClaimed = 50;

/** Pauses of work that declares none, when its workflow cannot be begun. None is longer than its lease. */
const beginRetry: RetrySchedule = { pausesMs: [1_000, 10_000, 60_000, 600_000], last: 'repeat' };

/** How often work could not be begun in a row, by key, as this process remembers it. */
type Failures = LRUCache<string, number>;

/**
 * Starts or wakes the workflows of due work. A row that was claimed is due again after its lease unless its work is done, and its workflow
 * has a fixed id, so starting it again is safe and a crash loses nothing. Each kind of work has a loop of its own: none waits for another.
 */
export class DueWorkRelay {
  readonly #options: DueWorkRelayOptions;
  readonly #loops: readonly RepeatedWork[];

  /** @throws TypeError for work whose workflow this release does not have */
  constructor(options: DueWorkRelayOptions) {
    this.#options = options;
    this.#loops = options.dueWork.map((work) => this.#loopOf(work));
  }

  /** To be called when rows may be due. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Claims nothing more and waits for starts under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }

  #loopOf(work: DueWork): RepeatedWork {
    const { contracts, isEnabled, openLanes, logger } = this.#options;
    const contract = contracts.find(({ name }) => name === work.workflow);
    if (!contract) throw new TypeError(`due work "${work.name}": there is no workflow "${work.workflow}"`);
    const failures: Failures = new LRUCache({ max: 10_000 });
    /** Owners after whom the next claim begins, by lane. */
    const positions = new Map<string | undefined, string>();
    return new RepeatedWork({
      round: async () => {
        let hasMore = false;
        const errors: unknown[] = [];
        for (const lane of openLanes(work)) {
          try {
            const { items, next, ...claim } = await this.#claim(work, lane, positions.get(lane) ?? '');
            positions.set(lane, next);
            if (items.length > 0) failpoint('work-claimed', work.name);
            const begun = await this.#beginAll(work, contract, items, failures);
            // When nothing can be begun, Temporal is probably away: the next poll continues.
            hasMore ||= claim.hasMore && (begun > 0 || items.length === 0);
            if (items.length > 0) failpoint('work-begun', work.name);
          } catch (error) {
            errors.push(error);
          }
        }
        if (errors.length > 0) throw new AggregateError(errors, 'some lanes failed');
        return hasMore;
      },
      isEnabled,
      onError: (error) =>
        logger.error({ err: error, due_work: work.name }, 'the relay of due work failed; the next poll tries again'),
    });
  }

  #claim(work: DueWork, lane: string | undefined, after: string) {
    return this.#transact((unit) => claimDueWork(unit, work, { limit: maxClaimed, lane, after }));
  }

  #transact<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    const context = { caller: systemCaller('due work'), requestId: `due-${newId()}` };
    return this.#options.database.transact(context, work);
  }

  /**
   * Begins each item, whatever becomes of the others. Items that cannot be begun are due again after a pause that grows.
   * @returns how many were begun
   */
  async #beginAll(
    work: DueWork,
    contract: WorkflowContract<object>,
    items: readonly DueItem[],
    failures: Failures,
  ): Promise<number> {
    const begun = await Promise.allSettled(items.map((item) => this.#begin(work, contract, item)));
    const errors: unknown[] = [];
    const failed: DueItem[] = [];
    for (const [n, item] of items.entries()) {
      const one = begun[n];
      if (one?.status === 'rejected') {
        errors.push(one.reason);
        failed.push(item);
      } else failures.delete(item.key);
    }
    if (failed.length === 0) return items.length;
    const { logger, database } = this.#options;
    const error = new AggregateError(errors, `${failed.length} of ${items.length} items could not be begun`);
    logger.error({ err: error, due_work: work.name }, 'some due work could not be begun; it is tried again');
    // The items of a claim of its own are not rows; its lease says when they are due again.
    if (!work.claim) {
      const now = database.options.clock.now().getTime();
      await this.#transact(async (unit) => {
        for (const { key, leasedUntil } of failed) {
          const count = (failures.get(key) ?? 0) + 1;
          failures.set(key, count);
          const pauseMs = pauseAfter(work.retry ?? beginRetry, count) ?? work.leaseMs;
          // A time that another change has set since the claim stays.
          await wakeRow(unit, work, key, new Date(now + Math.min(pauseMs, work.leaseMs)), leasedUntil);
        }
      });
    }
    return items.length - failed.length;
  }

  async #begin(work: DueWork, contract: WorkflowContract<object>, item: DueItem): Promise<unknown> {
    const { temporal } = this.#options;
    const { signal } = work;
    const search = work.search?.(item) ?? {};
    const input = work.input(item);
    // The rows say what is done, so the work of an item may run again under its id.
    return signal === undefined
      ? temporal.start(contract, input, { repeat: 'again', search })
      : temporal.wake(contract, input, { signal, search });
  }
}
