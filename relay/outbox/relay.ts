import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isRefused, type TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { SerialQueue } from '#entities/kit/base/serial-queue.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { claimBatch, unfinishedBatches, type BatchHead } from '#entities/kit/outbox/outbox.ts';
import { deliverEventsContract } from '#workflows/events/deliver-events.contract.ts';

export interface RelayOptions {
  readonly database: Database;
  /** Over the connection of the workers, so that they begin at once what is started. */
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  /** `workflows.dispatch.enabled`: off, events wait in their rows. */
  readonly isEnabled: () => boolean;
}

/** Most events of one batch. */
const maxEvents = 200;

/** Batches this process starts at the same time. */
const maxStarts = 4;

/** Most batches one sweep starts again. */
const maxSwept = 100;

/** Pauses after a failed start, in milliseconds; the last one repeats. */
const pausesMs = [100, 250, 500, 1_000, 2_000] as const;

/**
 * From rows to workflow starts. A batch is stamped in the database first and its workflow's input is the stamp, so a crash
 * in between is mended by starting the same batch again, never by forming another one.
 *
 * `wake` is cheap and may be called for every commit: while a start is under way further events gather, so an idle server
 * delivers each transaction by itself and a busy one in large batches.
 */
export class Relay {
  readonly #options: RelayOptions;
  /** Claimed here, but not accepted by Temporal yet. */
  readonly #unstarted: BatchHead[] = [];
  readonly #running = new Set<Promise<void>>();
  /** Two claims at the same time would tear the events of a transaction apart. */
  readonly #claims = new SerialQueue();
  #isWanted = false;
  #lastPollWasEmpty = false;
  #failures = 0;
  #lastTenant = '';
  #stopped = new AbortController();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** Something may be waiting. */
  wake(): void {
    this.#isWanted = true;
    if (this.#running.size < maxStarts && !this.#stopped.signal.aborted) this.#spawn();
  }

  /** Whether the last claim found nothing. */
  get lastPollWasEmpty(): boolean {
    return this.#lastPollWasEmpty;
  }

  #spawn(): void {
    const run = this.#run()
      .catch((error: unknown) => {
        this.#options.logger.error({ err: error }, 'relay stopped; the next event or the sweep wakes it again');
      })
      .finally(() => {
        this.#running.delete(run);
        // A wish that came while this run was ending found all places taken.
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

  /** While Temporal is away no new batches are formed: the rows gather and go out in few large ones. */
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
    // Another start goes on beside this one.
    if (batch.hasMore) this.wake();
    return batch;
  }

  async #startOrKeep(batch: BatchHead): Promise<void> {
    try {
      await this.#start(batch);
      if (this.#failures > 0) this.#options.logger.info('Temporal answers again; events flow');
      this.#failures = 0;
    } catch (error) {
      this.#unstarted.push(batch);
      const waitMs = pausesMs[Math.min(this.#failures++, pausesMs.length - 1)] as number;
      if (this.#failures === 1) {
        this.#options.logger.warn(
          { err: error, batch_id: batch.batchId },
          'events wait in their rows: Temporal did not take a batch',
        );
      }
      await pause(waitMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
    }
  }

  async #start(batch: BatchHead): Promise<void> {
    const { temporal, logger } = this.#options;
    const { batchId } = batch;
    const start = (search: object) =>
      // The delivery rows say what is done; a batch that was cut off runs again under its id.
      temporal.start(deliverEventsContract, { batchId }, { repeat: 'again', search });
    try {
      await start({ RequestId: batch.requestIds, EventTopic: batch.topics, OrganizationId: batch.organizationIds });
    } catch (error) {
      if (!isRefused(error)) throw error;
      // Delivered without being found is better than never delivered, with all others behind it.
      logger.error({ err: error, batch_id: batchId }, 'Temporal refuses the search attributes of a batch');
      await start({});
    }
    failpoint('relay-started');
    logger.debug({ batch_id: batchId, events: batch.count, request_ids: batch.requestIds }, 'batch started');
  }

  /**
   * Starts what a crash left behind: batches claimed before `before` and not delivered, and events nobody claimed.
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

  /** Claims nothing more and waits for starts under way. What is not started stays in its rows. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #inDatabase<T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
    return this.#options.database.transact({ caller: systemCaller('relay'), requestId: `relay-${newId()}` }, work);
  }
}
