/** One limit of the requests that count under a key. */
export interface RateLimit {
  /** Client whose requests are counted. Together with the window it identifies the counter. */
  readonly key: string;
  readonly requests: number;
  readonly windowMs: number;
  /** Time for which the counter is kept after its last request, at least `windowMs`. */
  readonly expirationMs: number;
  /** Interval at which expired counters are removed from the memory of the process. */
  readonly flushIntervalMs: number;
}

/** Requests of a window and of the one before it. Windows are numbered from the epoch on. */
export interface WindowCount {
  readonly index: number;
  readonly current: number;
  readonly previous: number;
}

export interface Standing {
  /** Requests that would pass at once. */
  readonly remaining: number;
  /** Time until the next request passes, in milliseconds; 0 if it would pass at once. */
  readonly waitMs: number;
  /** Time until the window ends, in milliseconds. */
  readonly resetMs: number;
}

/** Counts of at most 10,000,000 requests are weighed; a smaller difference is an error of floating-point numbers. */
const precision = 1e-7;

/** Stored counters, seen from this instant. A clock that went back stays in the window of the last request. */
export function countAt(stored: WindowCount | undefined, nowMs: number, windowMs: number): WindowCount {
  const index = Math.floor(nowMs / windowMs);
  if (!stored || stored.index < index - 1) return { index, current: 0, previous: 0 };
  return stored.index === index - 1 ? { index, current: 0, previous: stored.current } : stored;
}

export function hasRoom({ requests, windowMs }: RateLimit, count: WindowCount, nowMs: number): boolean {
  return weighed(count, nowMs, windowMs) + 1 <= requests + precision;
}

export function standingOf(limit: RateLimit, count: WindowCount, nowMs: number): Standing {
  const { requests, windowMs } = limit;
  const resetMs = restOf(count, nowMs, windowMs);
  const isFree = hasRoom(limit, count, nowMs);
  return {
    remaining: isFree ? Math.floor(requests - weighed(count, nowMs, windowMs) + precision) : 0,
    waitMs: isFree ? 0 : waitFor(limit, count, resetMs),
    resetMs,
  };
}

/** Requests of the sliding window that ends now: those of the previous window are weighted with the share of it that is still inside. */
function weighed(count: WindowCount, nowMs: number, windowMs: number): number {
  return (count.previous * restOf(count, nowMs, windowMs)) / windowMs + count.current;
}

function restOf({ index }: WindowCount, nowMs: number, windowMs: number): number {
  return Math.min(windowMs, (index + 1) * windowMs - nowMs);
}

function waitFor({ requests, windowMs }: RateLimit, { current, previous }: WindowCount, resetMs: number): number {
  const most = requests - 1;
  // Enough of the previous window leaves before this one ends.
  if (current <= most) return resetMs - ((most - current) * windowMs) / previous;
  // Otherwise enough of this window has to leave, after its end.
  return resetMs + windowMs * (1 - most / current);
}
