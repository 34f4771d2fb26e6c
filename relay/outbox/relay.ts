import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRefused, type TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { SerialQueue } from '#entities/kit/base/concurrency/serial-queue.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { claimBatch, unfinishedBatches, type BatchHead } from '#entities/kit/outbox/outbox.ts';
import { deliverEventsContract } from '#workflows/events/deliver-events.contract.ts';

interface RelayOptions {
  readonly database: Database;
  /** Over the connection of the workers, so that they begin at once what is started. */
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  /** `workflows.dispatch.enabled`. While it is off, events stay unclaimed. */
  readonly isEnabled: () => boolean;
  /** Called with every attempt to start a batch. */
  readonly onBatch?: (outcome: 'started' | 'failed', events: number) => void;
}

const maxEvents = 200;

/** Batches this process starts at the same time. */
const maxConcurrentStarts = 4;

/** Most batches one sweep starts again. */
const maxSwept = 100;

/** Pauses after a failed start, in milliseconds; the last one repeats. */
const pausesMs = [100, 250, 500, 1_000, 2_000] as const;

/**
 * Starts a workflow for each batch of waiting events. A batch id is written to the rows first and is the workflow's input, so
 * after a crash in between the same batch is started again, never formed anew.
 *
 * `wake` is cheap and may be called for every commit. Events that are recorded while a start is under way go into the next
 * batch, so an idle server delivers each transaction by itself and a busy one in large batches.
 */
export class Relay {
  readonly #options: RelayOptions;
  /** Claimed here, but not accepted by Temporal yet. */
  readonly #unstarted: BatchHead[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Two claims at the same time would split the events of one transaction. */
  readonly #claims = new SerialQueue();
  #isWanted = false;
  #lastPollWasEmpty = false;
  #failures = 0;
  #lastTenant = '';
  #stopped = new AbortController();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** To be called when events may be waiting. */
  wake(): void {
    this.#isWanted = true;
    if (this.#running.size < maxConcurrentStarts && !this.#stopped.signal.aborted) this.#spawn();
  }

  /** Whether the last claim found nothing. */
  get lastPollWasEmpty(): boolean {
    return this.#lastPollWasEmpty;
  }

  #spawn(): void {
    const run = this.#run()
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'the relay failed; the next event or the sweep wakes it again');
      })
      .finally(() => {
        this.#running.delete(run);
        // `wake` may have been called while this run was ending and was still marked as running.
        if (this.#isWanted && this.#mayClaim) this.wake();
      });
    this.#running.add(run);
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted && this.#options.isEnabled()) {
      const batch = this.#unstarted.shift() ?? (await this.#claims.run(() => this.#claim()));
      if (!batch) return;
      await this.#startOrKeep(batch);
    }
  }

  /** While Temporal is unavailable no new batches are formed: the events go out in a few large ones afterwards. */
  get #mayClaim(): boolean {
    return this.#failures === 0 && !this.#stopped.signal.aborted && this.#options.isEnabled();
  }

  async #claim(): Promise<BatchHead | undefined> {
    if (!this.#isWanted || !this.#mayClaim) return undefined;
    this.#isWanted = false;
    const batch = await this.#inDatabase((unit) => claimBatch(unit, maxEvents, this.#lastTenant));
    this.#lastPollWasEmpty = !batch;
    if (!batch) return undefined;
    failpoint('relay-claimed');
    this.#lastTenant = batch.lastTenant;
    // The next batch is claimed and started concurrently.
    if (batch.hasMore) this.wake();
    return batch;
  }

  async #startOrKeep(batch: BatchHead): Promise<void> {
    try {
      await this.#start(batch);
      this.#options.onBatch?.('started', batch.count);
      if (this.#failures > 0) this.#options.logger.info('Temporal accepts batches again');
      this.#failures = 0;
    } catch (error) {
      this.#options.onBatch?.('failed', batch.count);
      this.#unstarted.push(batch);
      const waitMs = pausesMs[Math.min(this.#failures++, pausesMs.length - 1)] as number;
      if (this.#failures === 1) {
        this.#options.logger.warn(
          { err: error, batch_id: batch.batchId },
          'events stay pending: Temporal did not accept a batch',
        );
      }
      await pause(waitMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
  }

  async #start(batch: BatchHead): Promise<void> {
    const { temporal, logger } = this.#options;
    const { batchId } = batch;
    const start = (search: object) =>
      // The delivery rows say what is done, so a batch whose run was interrupted may run again under its id.
      temporal.start(deliverEventsContract, { batchId }, { repeat: 'again', search });
    try {
      await start({ RequestId: batch.requestIds, EventTopic: batch.topics, OrganizationId: batch.organizationIds });
    } catch (error) {
      if (!isRefused(error)) throw error;
      // Without search attributes it is delivered all the same; otherwise it would hold up all later batches.
      logger.error({ err: error, batch_id: batchId }, 'Temporal refuses the search attributes of a batch');
      await start({});
    }
    failpoint('relay-started');
    logger.debug({ batch_id: batchId, events: batch.count, request_ids: batch.requestIds }, 'batch started');
  }

  /**
   * Starts what a crash left behind: batches that were claimed before `before` and not delivered, and unclaimed events.
   * @returns how many batches were started again
   * @throws AppError workflows_unavailable
   */
  async sweep(before: Date): Promise<number> {
    if (!this.#options.isEnabled()) return 0;
    const left = await this.#inDatabase((unit) => unfinishedBatches(unit, before, maxSwept));
    for (const batch of left) await this.#start(batch);
    this.wake();
    return left.length;
  }

  /** Claims nothing more and waits for starts under way. Batches that are not started stay in their rows. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #inDatabase<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#options.database.transact({ caller: systemCaller('relay'), requestId: `relay-${newId()}` }, work);
  }
}
