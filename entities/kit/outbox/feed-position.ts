import type { RecordedChange } from '../model/recorded-changes.ts';

/** Which transactions a reader of changes has seen the end of, in one database. */
export interface FeedSnapshot {
  /** `pg_snapshot`. */
  readonly snapshot: string;
  /** When it was taken, by the clock of the database, in microseconds since the epoch. */
  readonly time: string;
  /** Id of the database (`change_feed`). */
  readonly epoch: string;
}

/** A place among the changes that one snapshot has more than another, which are ordered by transaction and id. */
export interface FeedPosition extends FeedSnapshot {
  /** Of the changes up to the second snapshot, the last one that was read; left out between two snapshots. */
  readonly within?: { readonly to: FeedSnapshot; readonly xid: string; readonly id: string };
}

/** That a record has changed. */
export interface FeedChange {
  readonly xid: string;
  /** Of the history entry, if there is one. */
  readonly id: string;
  /** Kind of the record, by its topic. */
  readonly kind: string;
  readonly recordId: string;
  readonly organizationId: string | null;
  /** The only person who may view the record; null if there can be several. */
  readonly viewerId: string | null;
  readonly operation: RecordedChange['operation'];
  readonly recordVersion: number;
  /** When its transaction began, in microseconds since the epoch. */
  readonly changedAt: string;
}

/** Whether whoever has read up to one snapshot has read all that another one shows. Snapshots of one server are ordered by that. */
export function includes(snapshot: FeedSnapshot, other: FeedSnapshot): boolean {
  if (snapshot.epoch !== other.epoch) return false;
  const own = parsed(snapshot.snapshot);
  const their = parsed(other.snapshot);
  if (own.max < their.max) return false;
  return own.running.every((xid) => xid >= their.max || their.running.includes(xid));
}

function parsed(snapshot: string): { readonly max: bigint; readonly running: readonly bigint[] } {
  const [, max = '0', running = ''] = snapshot.split(':');
  return { max: BigInt(max), running: running === '' ? [] : running.split(',').map(BigInt) };
}

export function snapshotOf({ snapshot, time, epoch }: FeedSnapshot): FeedSnapshot {
  return { snapshot, time, epoch };
}
