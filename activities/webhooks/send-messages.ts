import { setTimeout as pause } from 'node:timers/promises';
import { outboundRequest, OutboundError } from '../clients/outbound/outbound-request.ts';
import { customerReach } from '../clients/outbound/customer-reach.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { takeShare } from '#entities/webhooks/webhook-share-rows.ts';
import { webhookQueue, webhookWorkers } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';
import { takeStep, type PreparedMessage, type Target, type WebhookDependencies } from './endpoint-queue.ts';
import type { HeldBodies } from './held-bodies.ts';
import type { AnsweredAttempt } from './next-attempt.ts';
import { messageHeaders } from './sign-message.ts';

/** Time after which a round begins no further attempts: its workflow then gives its slot to others. */
const roundMs = 20_000;

/** The same while other endpoints of the organization may wait for a slot. */
const sharedRoundMs = 2_000;

/** Part of the workers of this process that the endpoints of one organization can occupy. */
const sharePart = 0.25;

/** Longer than a round with its last attempts. */
const lostRoundMs = 45_000;

/** Pause of an endpoint that gets no slot, with as much again at random. */
const slotPauseMs = 1_000;

/** Messages that one step takes at most: it reads their records at once. */
const maxBegun = 10;

/** Time after which a round with room for more messages looks for new ones, although none of its attempts has ended. */
const lookMs = 500;

const timeoutMs = 15_000;
const maxResponseBytes = 65_536;

const keptBytes = 4_096;

interface Round {
  readonly target: Target;
  /** Of this process. */
  readonly held: HeldBodies;
  /** Ends attempts that are under way; their messages are due again when their time is over. */
  readonly signal: AbortSignal;
}

/** Sends messages of an endpoint while some are due, within its limits. @returns the time until the next one is due; null when none is */
export async function sendMessages(
  deps: WebhookDependencies,
  { target, held, signal }: Round,
): Promise<{ readonly waitMs: number | null }> {
  const context = () => workContext(systemCaller('webhooks', target.organizationId), `webhooks-${newId()}`);
  const pauseMs = slotPauseMs * (1 + Math.random());
  const slot = await deps.database.transact(context(), (unit) =>
    takeShare(unit, { ...target, share: shareOf(deps), roundMs: lostRoundMs, pauseMs }),
  );
  if (slot === 'none') return { waitMs: Math.ceil(pauseMs) };
  const roundEnd = performance.now() + (slot === 'last' ? sharedRoundMs : roundMs);
  const running = new Set<Promise<void>>();
  const ended: AnsweredAttempt[] = [];
  const errors: unknown[] = [];
  // Attempts end with the round also when it fails.
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  try {
    for (;;) {
      signal.throwIfAborted();
      const mayBegin = performance.now() < roundEnd;
      // However full the memory is, every endpoint gets one message at a time.
      const maxCount = () => (held.isFull ? Math.max(0, 1 - running.size) : maxBegun);
      const step = { ended: ended.splice(0), inFlight: running.size, maxCount: mayBegin ? maxCount : () => 0 };
      const { begun, hasRoom, waitMs } = await deps.database.transact(context(), (unit) =>
        takeStep(deps, unit, target, step),
      );
      if (step.ended.length > 0) failpoint('webhook-settled');
      for (const prepared of begun) {
        const attempt = held
          .during(prepared.body, () => send(deps, prepared, stop))
          .then(
            (result) => void ended.push(result),
            (error: unknown) => void errors.push(error),
          )
          .finally(() => running.delete(attempt));
        running.add(attempt);
      }
      if (errors.length > 0) throw errors[0];
      if (running.size === 0 && ended.length === 0) return { waitMs: mayBegin ? waitMs : 0 };
      if (ended.length === 0 && begun.length < maxBegun)
        await Promise.race([...running, ...(hasRoom ? [pause(lookMs)] : [])]);
    }
  } finally {
    failed.abort();
    await Promise.allSettled(running);
  }
}

function shareOf({ config }: WebhookDependencies): number {
  const { Queues } = config.current.jobqueue.queueconf;
  return Math.max(1, Math.floor((Queues[webhookQueue]?.MaxWorkers ?? webhookWorkers) * sharePart));
}

async function send(
  { config, database }: WebhookDependencies,
  { message, url, secrets, body }: PreparedMessage,
  signal: AbortSignal,
): Promise<AnsweredAttempt> {
  failpoint('webhook-claimed');
  const { clock } = database.options;
  const attemptedAt = clock.now();
  const begunAt = performance.now();
  const result = (part: Pick<AnsweredAttempt, 'status' | 'problem' | 'response' | 'retryAfter'>): AnsweredAttempt => ({
    message,
    attemptedAt,
    durationMs: performance.now() - begunAt,
    ...part,
  });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'core-server',
    ...messageHeaders({ id: message.eventId, at: attemptedAt, body }, secrets),
  };
  try {
    const reach = customerReach(config.current);
    const limits = { reach, timeoutMs, maxBytes: maxResponseBytes, keptBytes, signal };
    const response = await outboundRequest(url, { method: 'POST', headers, body }, limits);
    failpoint('webhook-sent');
    return result({
      status: response.status,
      problem: problemOf(response.status, response.headers['content-encoding']),
      response: textOf(response.body),
      retryAfter: response.headers['retry-after'] ?? null,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof OutboundError)) throw error;
    return result({ status: null, problem: error.message, response: null, retryAfter: null });
  }
}

/** Why a response does not say that the message arrived; null where its status alone decides. */
function problemOf(status: number, encoding: string | undefined): string | null {
  if (status >= 300 && status < 400) return 'it answers with a redirect, which is not followed';
  return encoding !== undefined && encoding !== 'identity'
    ? 'its answer has a content coding that was not asked for'
    : null;
}

/** The beginning of a response as text that PostgreSQL can hold. */
function textOf(body: Buffer): string {
  return body.toString('utf8').replaceAll('\0', '\u{FFFD}');
}
