import type { WorkKind } from '../outbox/failing-work.ts';
import type { Work } from '../storage/work.ts';

/** Rows of one table of which each is to be handled outside the request once its time has come. */
export interface DueRows {
  readonly table: string;
  /** Column with the key, unique among the rows that wait. */
  readonly key: string;
  /** Expression whose values share a claim equally: the organization. It is never null. */
  readonly owner: string;
  /** Column with the time from which a row is due. A claim moves it by the lease, a failure by the pause. */
  readonly dueAt: string;
  /** Predicate of the rows that wait. A partial index has (lane, owner, dueAt, key) of them. */
  readonly waits: string;
  /** Column whose values can be paused apart. */
  readonly lane?: string;
  /** Further columns for `input`. */
  readonly columns?: readonly string[];
}

export interface DueItem {
  readonly key: string;
  readonly owner: string;
  /** When it is due again; a claim of its own leaves it out. */
  readonly leasedUntil?: Date;
  /** Values of the further columns. */
  readonly [column: string]: unknown;
}

export interface ClaimRequest {
  readonly limit: number;
  /** Only rows of this lane. */
  readonly lane: string | undefined;
  /** The claim begins with the owners after this one; '' for the first. */
  readonly after: string;
}

export interface Claim {
  readonly items: readonly DueItem[];
  /** `after` of the next claim. */
  readonly next: string;
  readonly hasMore: boolean;
}

export interface RetrySchedule {
  /** After the first, second, … failed attempt, in milliseconds. */
  readonly pausesMs: readonly number[];
  /** After the last pause: it is repeated, or the work is given up. */
  readonly last: 'repeat' | 'give up';
  /** Largest part of a pause that is added at random, so that work that failed together is not repeated together. */
  readonly jitter?: number;
}

/** Work outside the request, as it is declared in a file `<name>-due.ts`. */
export interface DueWork {
  /** The kind under which its failures are listed, and its name. */
  readonly name: `${WorkKind}/${string}`;
  readonly rows: DueRows;
  /** Time after which a row that was claimed is due again, unless its work has ended or moved it, in milliseconds. */
  readonly leaseMs: number;
  /** Absent where Temporal alone repeats what fails. */
  readonly retry?: RetrySchedule;
  /** Claims otherwise than row by row. */
  readonly claim?: (work: Work, request: ClaimRequest, leaseMs: number) => Promise<Claim>;
  /** Temporal type of the workflow that does the work. Its id depends on the item, so starting it again is safe. */
  readonly workflow: string;
  /** Input of the workflow for an item, without the settings of its queue. */
  readonly input: (item: DueItem) => object;
  /** Signal that wakes the workflow; without it, the workflow is started unless it is running. */
  readonly signal?: string;
  /** Search attributes of the workflow, by which operators find it in the Temporal UI: ids, and the kind in snake_case; none when left out. */
  readonly search?: (item: DueItem) => {
    readonly OrganizationId?: readonly string[];
    readonly EntityKind?: string;
    readonly EntityId?: string;
  };
}

export function defineDueWork<const W extends DueWork>(work: W): W {
  return work;
}

/**
 * The pause after an attempt that failed, in milliseconds.
 * @param failures failed attempts, with this one
 * @param random 0 to 1
 * @returns undefined when the work is given up
 */
export function pauseAfter(
  { pausesMs, last, jitter = 0 }: RetrySchedule,
  failures: number,
  random = 0,
): number | undefined {
  const pauseMs = pausesMs[failures - 1] ?? (last === 'repeat' ? pausesMs.at(-1) : undefined);
  return pauseMs === undefined ? undefined : pauseMs * (1 + jitter * random);
}
