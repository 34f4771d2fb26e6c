import type { Logger } from 'pino';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { FeedPosition, FeedSnapshot, FeedChange } from '#entities/kit/outbox/feed-position.ts';
import { readRecordChanges, type FeedFilter, type FeedPage } from '#entities/kit/outbox/record-changes.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { listenForEvents } from '../outbox/wake-up.ts';

interface ChangeFeedOptions {
  readonly database: Database;
  /** Connection URI for the connection that listens for notifications. */
  readonly url: string;
  readonly logger: Logger;
}

/** Changes that one snapshot has more than another one. */
export interface ChangeBatch {
  readonly from: FeedSnapshot;
  readonly to: FeedSnapshot;
  readonly changes: readonly FeedChange[];
  /** Whether these are the last ones up to `to`. */
  readonly isWhole: boolean;
}

export interface Follower {
  /** Called with all changes of all organizations, in order. */
  onChanges(batch: ChangeBatch): void;
  /** The state of callers that depend on one of these ids has changed (hashes, as in `caller_basis`). */
  onCallers(scopes: ReadonlySet<string>): void;
  /** Called after each poll, and at least once in `pollMs`, also when the database does not answer. */
  onTick(): void;
}

/** Interval of polls, in milliseconds. A poll finds lost notifications, and changes of rights, which send none. */
const pollMs = 1_000;

/** Shortest pause between two looks, in milliseconds. */
const minPauseMs = 10;

/**
 * Follows the committed changes of records, over all processes: it reads rows, woken by notifications and by time. The state that it has
 * read is a snapshot, not a number, so that no change is passed over, in whatever order transactions commit (record-changes.ts).
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  #follower: Follower | undefined;
  #position: FeedPosition | undefined;
  #stopListening: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #lookedAt = 0;
  /** Resolved, or rejected, by the first poll that begins after they asked. */
  #waiting: PromiseWithResolvers<void>[] = [];

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** Position up to which everything was sent; undefined before the first poll. */
  get position(): FeedSnapshot | undefined {
    // In the midst of a batch nobody can join.
    return this.#position?.within ? undefined : this.#position;
  }

  get isRunning(): boolean {
    return this.#follower !== undefined;
  }

  /** Begins to read, from what is committed now on. */
  start(follower: Follower): void {
    if (this.#follower) return;
    this.#follower = follower;
    this.#stopListening = listenForEvents({
      url: this.#options.url,
      logger: this.#options.logger,
      onWake: () => this.#poll(),
      channel: 'core_changes',
    });
    this.#poll();
  }

  /** Reads nothing more. A follower that joins later begins anew. */
  async stop(): Promise<void> {
    this.#follower = undefined;
    this.#position = undefined;
    clearTimeout(this.#timer);
    const stopped = this.#stopListening?.();
    this.#stopListening = undefined;
    await Promise.all([stopped, this.#running]);
  }

  /**
   * Resolves when a poll that began after this call has ended, so that all that was committed before it was sent.
   * @throws AppError of the database, and shutting_down when nobody follows the changes any more
   */
  refresh(): Promise<void> {
    const waiter = Promise.withResolvers<void>();
    this.#waiting.push(waiter);
    this.#poll();
    return waiter.promise;
  }

  /** Changes for one reader, a page at a time. @throws AppError of the database */
  read(from: FeedPosition, to: FeedSnapshot, filter: FeedFilter): Promise<FeedPage> {
    return this.#read({ from, to, filter });
  }

  /** Current snapshot of commits. @throws AppError of the database */
  async now(): Promise<FeedSnapshot> {
    return (await this.#read({})).to;
  }

  #read(read: Parameters<typeof readRecordChanges>[1]): Promise<FeedPage> {
    const context = { caller: systemCaller('change feed'), requestId: `changes-${newId()}`, readOnly: true };
    return this.#options.database.transact(context, (unit) => readRecordChanges(unit, read));
  }

  /** Polls now, or after the poll under way; soon after another one, with a short pause. */
  #poll(): void {
    if (!this.#follower) {
      for (const { reject } of this.#waiting.splice(0)) reject(notFollowed());
      return;
    }
    this.#isWanted = true;
    if (this.#running) return;
    clearTimeout(this.#timer);
    const sinceMs = performance.now() - this.#lookedAt;
    this.#timer = setTimeout(() => this.#begin(), this.#waiting.length > 0 ? 0 : Math.max(0, minPauseMs - sinceMs));
  }

  #begin(): void {
    this.#isWanted = false;
    this.#lookedAt = performance.now();
    const asked = this.#waiting.splice(0);
    this.#running = this.#lookFor(asked);
  }

  async #lookFor(asked: readonly PromiseWithResolvers<void>[]): Promise<void> {
    try {
      await this.#lookOnce();
      for (const { resolve } of asked) resolve();
    } catch (error) {
      for (const { reject } of asked) reject(error);
      this.#options.logger.warn({ err: error }, 'changes of records cannot be read now; trying again');
    }
    this.#running = undefined;
    if (!this.#follower) {
      for (const { reject } of this.#waiting.splice(0)) reject(notFollowed());
      return;
    }
    this.#follower.onTick();
    if (this.#isWanted) this.#poll();
    else this.#timer = setTimeout(() => this.#begin(), pollMs);
  }

  async #lookOnce(): Promise<void> {
    for (let hasMore = true; hasMore && this.#follower;) {
      const from = this.#position;
      const page = await this.#read({ from });
      const follower = this.#follower;
      // It was stopped, or started anew.
      if (!follower || from !== this.#position) return;
      ({ hasMore } = page);
      if (!from) {
        this.#position = page.to;
        return;
      }
      const { snapshot, time, epoch } = from;
      const last = page.changes.at(-1);
      this.#position =
        hasMore && last ? { snapshot, time, epoch, within: { to: page.to, xid: last.xid, id: last.id } } : page.to;
      follower.onChanges({ from: { snapshot, time, epoch }, to: page.to, changes: page.changes, isWhole: !hasMore });
      if (page.callers.length > 0) follower.onCallers(new Set(page.callers));
    }
  }
}

function notFollowed(): AppError {
  return new AppError('shutting_down', 'Changes are not followed any more.');
}
