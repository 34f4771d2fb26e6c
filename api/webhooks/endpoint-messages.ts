import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import { parseInstant } from '#entities/kit/base/instant.ts';
import { found, mismatch, notAnId } from '#entities/kit/base/schema-problem.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import {
  addMessage,
  messageStates,
  readAttempts,
  readMessages,
  replayMessages,
  type LogPage,
  type MessageState,
  type ShownAttempt,
  type ShownMessage,
} from '#entities/webhooks/webhook-message-rows.ts';
import type { Asking } from '../credentials/asking.ts';
import { pageSlice } from '../http/response/page-slice.ts';
import { tooManyAttempts } from '../http/limits/too-many-attempts.ts';
import { lockedEndpoint } from './change-endpoint.ts';

export { messageStates, type ShownAttempt, type ShownMessage };

/** The type of messages that are sent to try an endpoint. */
export const testTopic = `${webhookEndpoint.topic}.tested`;

/** Messages that one request sends again. */
export const maxReplayed = 10_000;

/** Most events that one request names. */
export const maxReplayedIds = 1_000;

/** Test messages and replays of one endpoint within a time in milliseconds. A replay can be of ten thousand messages. */
export const endpointLimits = {
  test: { limit: 10, windowMs: 60_000, what: 'Too many test messages were sent to this endpoint' },
  replay: { limit: 30, windowMs: 600_000, what: 'Messages were sent to this endpoint again too often' },
} as const;

export interface LogArguments {
  readonly eventId?: string | null;
  readonly status?: MessageState | null;
  /** Id of the last entry of the page before. */
  readonly after?: string | null;
  readonly first?: number | null;
}

export interface ReplayArguments {
  readonly eventIds?: readonly string[] | null;
  readonly since?: Date | string | null;
}

export interface Replayed {
  readonly replayedCount: number;
  /** Since when there are more; null when there are none. */
  readonly next: Date | null;
}

/**
 * Sends a message that says nothing, in the same way as all others.
 * @returns its id
 * @throws AppError not_found, permission_denied, invalid_input, too_many_requests
 */
export async function testEndpoint(asking: Asking, wanted: string): Promise<{ readonly eventId: string }> {
  const { unit, services } = asking;
  const endpoint = await lockedEndpoint(asking, wanted);
  refuseDisabled(endpoint);
  await countUse(asking, 'test', endpoint.id);
  const eventId = newId();
  const { id: endpointId, organizationId, recordVersion } = endpoint;
  const { topic: entityKind } = webhookEndpoint;
  await addMessage(unit, { endpointId, organizationId, recordVersion, eventId, entityKind, topic: testTopic });
  unit.afterCommit(services.wakeRelays);
  return { eventId };
}

/**
 * Sends messages again, under their own ids: some, or the first 10,000 since an instant.
 * @throws AppError not_found, permission_denied, invalid_input, limit_exceeded, too_many_requests
 */
export async function replayEndpoint(
  asking: Asking,
  wanted: string,
  { eventIds, since }: ReplayArguments,
): Promise<Replayed> {
  const { unit, services } = asking;
  const endpoint = await lockedEndpoint(asking, wanted);
  refuseDisabled(endpoint);
  if ((eventIds == null) === (since == null))
    throw inputError([{ path: '/since', message: 'or the ids of events must be given, and not both' }]);
  if (eventIds && eventIds.length > maxReplayedIds)
    throw limitExceeded(
      `At most ${maxReplayedIds} events can be named at once; this request names ${eventIds.length}.`,
      {
        path: '/eventIds',
        message: `more than ${maxReplayedIds} ids`,
      },
    );
  refuseNoIds(Object.fromEntries((eventIds ?? []).map((id, index) => [`/eventIds/${index}`, id])));
  await countUse(asking, 'replay', endpoint.id);
  const which = eventIds ? { eventIds } : { since: instantOf(since, unit.clock.now()), limit: maxReplayed };
  const { count, last } = await replayMessages(unit, { endpointId: endpoint.id, which });
  if (count > 0) unit.afterCommit(services.wakeRelays);
  return { replayedCount: count, next: 'limit' in which && count === maxReplayed ? last : null };
}

/** The schema of a body accepts times that JavaScript does not have, such as leap seconds. @throws AppError invalid_input */
function instantOf(since: ReplayArguments['since'], now: Date): Date {
  const instant = since instanceof Date ? since : parseInstant(since ?? '');
  if (!instant) throw inputError([{ path: '/since', message: mismatch('date-time', since) }]);
  if (instant > now)
    throw inputError([{ path: '/since', message: `must not be in the future${found(instant.toISOString())}` }]);
  return instant;
}

/** The newest messages of an endpoint. @throws AppError not_found, limit_exceeded */
export async function messagesOf(
  asking: Asking,
  wanted: string,
  slice: LogArguments,
): Promise<readonly ShownMessage[]> {
  const page = await pageOf(asking, wanted, slice);
  return readMessages(asking.unit, { ...page, ...(slice.status == null ? {} : { status: slice.status }) });
}

/** The newest attempts to send to an endpoint. @throws AppError not_found, limit_exceeded */
export async function attemptsOf(
  asking: Asking,
  wanted: string,
  slice: LogArguments,
): Promise<readonly ShownAttempt[]> {
  return readAttempts(asking.unit, await pageOf(asking, wanted, slice));
}

async function pageOf(
  { unit, services }: Asking,
  wanted: string,
  { eventId, after, first }: LogArguments,
): Promise<LogPage> {
  refuseNoIds({ '/eventId': eventId, '/after': after });
  const { size } = pageSlice({ first: first ?? null }, services.config.current.server.maxresultlimit);
  // The tables that are read below have no rules of their own: whoever sees the endpoint sees what was sent to it.
  const endpoint = await unit.data.get(webhookEndpoint, existingId(webhookEndpoint, wanted));
  return {
    endpointId: endpoint.id,
    size,
    ...(eventId == null ? {} : { eventId }),
    ...(after == null ? {} : { before: after }),
  };
}

/** A text that is no id names no event: an empty answer would hide the mistake. @param ids by their paths @throws AppError invalid_input */
function refuseNoIds(ids: Readonly<Record<string, string | null | undefined>>): void {
  const wrong = Object.entries(ids).filter(([, id]) => id != null && !isId(id));
  if (wrong.length > 0) throw inputError(wrong.map(([path, id]) => ({ path, message: notAnId(id, []) })));
}

/** Counts what managers cause at an endpoint. @throws AppError too_many_requests */
async function countUse({ unit }: Asking, use: keyof typeof endpointLimits, endpointId: string): Promise<void> {
  const { limit, windowMs, what } = endpointLimits[use];
  const freeAt = await takeAttempt(unit, [{ key: `webhook-${use}:${endpointId}`, limit }], windowMs);
  if (freeAt) throw tooManyAttempts(what, freeAt, unit.clock.now());
}

function refuseDisabled({ status }: { readonly status: string }): void {
  if (status === 'disabled') throw inputError([{ path: '/status', message: 'is disabled; enable the endpoint first' }]);
}
