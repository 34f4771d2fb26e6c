import type { FeedFilter } from '#entities/kit/outbox/record-changes.ts';
import {
  includes,
  snapshotOf,
  type FeedPosition,
  type FeedSnapshot,
  type FeedChange,
} from '#entities/kit/outbox/feed-position.ts';
import type { ChangeFeed, ChangeBatch } from '#relay/changes/change-feed.ts';

/** Most changes that wait in memory for one subscription. Those beyond are read from the database when they are needed. */
const maxQueued = 500;

/** Most changes that are handed over at once, and so read in one statement. */
const maxTaken = 50;

export interface SubscribedTo extends FeedFilter {
  /** Only the records with these ids; left out for all. */
  readonly ids?: ReadonlySet<string>;
  readonly operations?: ReadonlySet<FeedChange['operation']>;
  /** The subscriber. */
  readonly subjectId: string | null;
}

/** A change with the position behind it. */
export interface PlacedChange {
  readonly change: FeedChange;
  readonly position: FeedPosition;
}

/**
 * The changes that one subscriber has asked for, one by one, in the order in which they were committed. A subscriber who asks slowly, or
 * begins at an earlier position, gets them from the database; whoever keeps up gets what the process has read for all.
 */
export class RecordSubscription {
  readonly of: SubscribedTo;
  readonly #feed: ChangeFeed;
  readonly #queue: PlacedChange[] = [];
  /** Changes that were handed over, or passed over. */
  #position: FeedPosition;
  /** The position once the queue is empty. */
  #passed: FeedPosition;
  #isLive: boolean;
  #wake: (() => void) | undefined;
  #end: { readonly reason: Error | undefined } | undefined;
  #isPositionWanted = false;
  /** When something was handed over last, as `performance.now()`. */
  #takenAt = performance.now();

  /** @param from where to begin: the position of the feed, or an earlier or later one */
  constructor(feed: ChangeFeed, from: FeedPosition, of: SubscribedTo) {
    this.#feed = feed;
    this.#position = from;
    this.#passed = from;
    this.of = of;
    this.#isLive = isAt(from, feed.position);
  }

  get position(): FeedPosition {
    return this.#position;
  }

  /** Milliseconds since something was handed over. */
  get quietMs(): number {
    return performance.now() - this.#takenAt;
  }

  /**
   * The next changes, at least one; none when a position was wanted.
   * @returns undefined when the subscription was closed
   * @throws the reason for which it was ended, and AppError of the database
   */
  async next(): Promise<readonly PlacedChange[] | undefined> {
    for (;;) {
      if (this.#end) {
        if (this.#end.reason) throw this.#end.reason;
        return undefined;
      }
      const taken = this.#queue.length > 0 || this.#isLive ? this.#take() : await this.#catchUp();
      if (taken.length > 0 || this.#isPositionWanted) {
        this.#isPositionWanted = false;
        this.#takenAt = performance.now();
        return taken;
      }
      if (this.#isLive && !this.#end) await this.#woken();
    }
  }

  /** To be called with each batch of the feed. */
  receive(change: FeedChange, { from, to }: ChangeBatch): void {
    if (!this.#isLive || !this.#isMeant(change)) return;
    if (this.#queue.length === maxQueued) {
      this.#queue.length = 0;
      this.#isLive = false;
      return;
    }
    this.#queue.push(placed(change, from, to));
    this.#wake?.();
  }

  /** To be called when all changes of a batch were sent. */
  pass({ from, to, changes, isWhole }: ChangeBatch): void {
    if (!this.#isLive) return;
    const last = changes.at(-1);
    this.#passed = isWhole || !last ? to : placed(last, from, to).position;
    if (this.#queue.length === 0) this.#position = this.#passed;
  }

  /** Passes over the next changes as long as the subscriber knows of them already. */
  passOver(isKnown: (change: FeedChange) => boolean): void {
    while (this.#queue[0] && isKnown(this.#queue[0].change)) {
      const [known] = this.#queue.splice(0, 1);
      if (known) this.#position = known.position;
    }
    if (this.#isLive && this.#queue.length === 0) this.#position = this.#passed;
  }

  /** Hands over the position, even if nothing changes. */
  wantPosition(): void {
    this.#isPositionWanted = true;
    this.#wake?.();
  }

  /** Ends it for a reason, which `next` throws; without one, silently. Waiting changes are not handed over any more. */
  end(reason?: Error): void {
    this.#end ??= { reason };
    this.#queue.length = 0;
    this.#wake?.();
  }

  #take(): readonly PlacedChange[] {
    const taken = this.#queue.splice(0, maxTaken);
    const last = taken.at(-1);
    if (last) this.#position = this.#queue.length === 0 && this.#isLive ? this.#passed : last.position;
    return taken;
  }

  /** Reads a page from the database, as far as the feed is; from there on, the feed reports. */
  async #catchUp(): Promise<readonly PlacedChange[]> {
    const target = this.#feed.position;
    const from = this.#position;
    if (isAt(from, target)) {
      this.#isLive = true;
      this.#passed = from;
      return [];
    }
    // In the midst of a batch, or behind the position, which another process gave.
    if (!target || (!from.within && includes(from, target))) {
      await this.#feed.refresh();
      return [];
    }
    const { changes, to, hasMore } = await this.#feed.read(from, from.within?.to ?? target, this.of);
    const last = changes.at(-1);
    this.#position = hasMore && last ? placed(last, from, to).position : to;
    return changes.filter((one) => this.#isMeant(one)).map((one) => placed(one, from, to));
  }

  #isMeant({ recordId, operation, viewerId, kind }: FeedChange): boolean {
    const { ids, operations, subjectId, kinds } = this.of;
    return (
      kinds.includes(kind) &&
      (viewerId === null || viewerId === subjectId) &&
      (ids?.has(recordId) ?? true) &&
      (operations?.has(operation) ?? true)
    );
  }

  async #woken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
  }
}

function placed(change: FeedChange, from: FeedSnapshot, to: FeedSnapshot): PlacedChange {
  return { change, position: { ...snapshotOf(from), within: { to: snapshotOf(to), xid: change.xid, id: change.id } } };
}

function isAt(position: FeedPosition, target: FeedSnapshot | undefined): boolean {
  return position.within === undefined && position.snapshot === target?.snapshot && position.epoch === target.epoch;
}
