import { disabledAfterMs } from '#entities/webhooks/webhook-endpoint.ts';
import { pauseAfter } from '#entities/kit/due-work/define-due-work.ts';
import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import { messagesDue } from '#entities/webhooks/messages-due.ts';
import type { AttemptResult, QueueState } from '#entities/webhooks/webhook-queue-rows.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Failed attempts in a row after which one message at a time is sent. */
const failuresBeforeProbing = 5;

/** Longest pause between two of these attempts. */
const maxProbePauseMs = 30 * minute;

/** Pause of an endpoint that says that it is overloaded, and not until when. */
const throttlePauseMs = 30 * second;

/** Time without success after which people are notified. */
const tellAfterMs = 24 * hour;

/** Statuses of an endpoint that gets too much (RFC 6585, section 4; RFC 9110, section 15.6). */
const throttling: ReadonlySet<number> = new Set([429, 502, 504]);

const gone = 410;

export interface Outcome {
  readonly queue: QueueState;
  readonly state: 'delivered' | 'failed' | 'due';
  readonly dueAt: Date | null;
  /** The endpoint gets no more messages. */
  readonly disabled?: 'gone' | 'failing';
  /** People must be notified that the endpoint fails. */
  readonly isToTell?: true;
}

export interface AnsweredAttempt extends AttemptResult {
  /** The header Retry-After of the response. */
  readonly retryAfter: string | null;
}

function isSuccess({ status }: Pick<AttemptResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

export function inFlightLimit({ failures }: QueueState, maxInFlight: number): number {
  return failures >= failuresBeforeProbing ? 1 : maxInFlight;
}

/** @param random 0 to 1 */
export function outcomeOf(attempt: AnsweredAttempt, queue: QueueState, now: Date, random: number): Outcome {
  if (isSuccess(attempt) && attempt.problem === null)
    return {
      queue: { ...queue, failures: 0, failingSince: null, toldAt: null, blockedUntil: null },
      state: 'delivered',
      dueAt: null,
    };
  const failures = queue.failures + 1;
  const failingSince = queue.failingSince ?? now;
  const failingMs = now.getTime() - failingSince.getTime();
  const isToTell = failingMs >= tellAfterMs && queue.toldAt === null;
  const blockedMs = Math.max(
    throttleMs(attempt, now),
    probePauseMs(failures) * (1 + messagesDue.retry.jitter * random),
  );
  const blockedUntil = later(queue.blockedUntil, blockedMs > 0 ? new Date(now.getTime() + blockedMs) : null);
  const pauseMs = pauseAfter(messagesDue.retry, attempt.message.attempts + 1, random);
  const dueAt = pauseMs === undefined ? null : new Date(now.getTime() + Math.max(pauseMs, throttleMs(attempt, now)));
  const disabled =
    attempt.status === gone ? ('gone' as const) : failingMs >= disabledAfterMs ? ('failing' as const) : undefined;
  return {
    queue: { ...queue, failures, failingSince, toldAt: isToTell ? now : queue.toldAt, blockedUntil },
    state: dueAt === null ? 'failed' : 'due',
    dueAt,
    ...(disabled ? { disabled } : {}),
    ...(isToTell ? { isToTell } : {}),
  };
}

/** Time for which the endpoint asks for a pause, or needs one. */
function throttleMs({ status, retryAfter }: AnsweredAttempt, now: Date): number {
  if (status === null || (retryAfter === null && !throttling.has(status))) return 0;
  return retryAfterMs(retryAfter, now) ?? throttlePauseMs;
}

function probePauseMs(failures: number): number {
  if (failures < failuresBeforeProbing) return 0;
  return Math.min(5 * second * 2 ** (failures - failuresBeforeProbing), maxProbePauseMs);
}

function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** The current tokens: a second's worth at most. */
export function refilled({ tokens, tokensAt }: QueueState, maxPerSecond: number, now: Date): number {
  if (tokens === null || tokensAt === null) return maxPerSecond;
  const sinceS = Math.max(0, now.getTime() - tokensAt.getTime()) / second;
  return Math.min(maxPerSecond, tokens + sinceS * maxPerSecond);
}
