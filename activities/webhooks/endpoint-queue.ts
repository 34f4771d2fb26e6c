import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { isMembershipLive } from '#entities/kit/access/single-sign-on.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { offeredScopes } from '#entities/kit/model/scopes.ts';
import { relationsOfScopes } from '#entities/kit/model/scope-relations.ts';
import {
  claimMessages,
  forgetEndpoint,
  keepMessages,
  lockQueue,
  nextDue,
  saveQueue,
  settleAttempts,
  type ClaimedMessage,
  type QueueState,
} from '#entities/webhooks/webhook-queue-rows.ts';
import { shownRecords } from '#entities/kit/unit/shown-records.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import { organization } from '#entities/organizations/organization.ts';
import { isManager } from '#entities/presets/roles.ts';
import { messageBody, type MessageRecord } from './message-body.ts';
import { inFlightLimit, outcomeOf, refilled, type AnsweredAttempt, type Outcome } from './next-attempt.ts';

export type WebhookDependencies = Pick<ActivityDependencies, 'config' | 'database' | 'contextOfCallers' | 'logger'>;

export interface Target {
  readonly endpointId: string;
  readonly organizationId: string;
}

export interface Step {
  /** Attempts that have ended since the last step. */
  readonly ended: readonly AnsweredAttempt[];
  readonly inFlight: number;
  /** How many further ones may begin, whatever the limits of the endpoint are. */
  readonly maxCount: () => number;
}

export interface PreparedMessage {
  readonly message: ClaimedMessage;
  readonly url: string;
  readonly secrets: readonly string[];
  readonly body: string;
}

interface NextStep {
  readonly begun: readonly PreparedMessage[];
  /** Whether more messages could begin if there were any. */
  readonly hasRoom: boolean;
  /** Time until the next attempt when none is under way and none begins; null when no message is due. */
  readonly waitMs: number | null;
}

type Endpoint = RowOf<typeof webhookEndpoint>;

/** Longer than an attempt can take. */
const leaseMs = 25_000;

/** Time for which the former secret signs as well. */
const formerSecretMs = 24 * 3_600_000;

/** Pause of an endpoint for which somebody answers who has to set up a second factor first. */
const factorPauseMs = 60_000;

/** Pause of an endpoint that has got as many messages as it takes in a second. */
const refillMs = 1_000;

const nothing: NextStep = { begun: [], hasRoom: false, waitMs: null };

/** Keeps how attempts ended and takes the next messages, in one transaction with the state of the queue. */
export async function takeStep(
  deps: WebhookDependencies,
  unit: UnitOfWork,
  target: Target,
  { ended, inFlight, maxCount }: Step,
): Promise<NextStep> {
  const { endpointId } = target;
  const now = unit.clock.now();
  // First, as by those who change it: what is sent and where to is decided by one version of the endpoint.
  const endpoint = await unit.data.findLocked(webhookEndpoint, endpointId);
  let queue = await lockQueue(unit, endpointId);
  // The records of a deleted organization are removed little by little, its endpoints among them.
  const owner = await unit.data.findOne(organization, { id: { eq: target.organizationId } });
  if (!endpoint || !owner) {
    await forgetEndpoint(unit, endpointId);
    return nothing;
  }
  const outcomes: Outcome[] = [];
  for (const attempt of ended) {
    const outcome = outcomeOf(attempt, queue, now, Math.random());
    ({ queue } = outcome);
    outcomes.push(outcome);
  }
  await settleAttempts(
    unit,
    endpointId,
    ended.map((attempt, index) => ({ ...attempt, ...(outcomes[index] as Outcome) })),
  );
  const wasDisabled = (await tellOf(unit, endpoint, outcomes, queue)) || endpoint.status === 'disabled';
  const rights = wasDisabled ? 'held' : await rightsBehind(deps, unit, endpoint);
  if (rights === 'lost') await disable(unit, endpoint, 'rights_lost');
  if (wasDisabled || rights === 'lost') {
    await keepMessages(unit, endpointId);
    await saveQueue(unit, endpointId, queue, { nextAt: now, sendingUntil: null });
    return nothing;
  }
  const isOrdered = endpoint.ordering === 'record';
  if (rights === 'suspended') {
    const isDue = (await nextDue(unit, endpointId, isOrdered)) !== null;
    const nextAt = new Date(now.getTime() + factorPauseMs);
    await saveQueue(unit, endpointId, queue, { nextAt, sendingUntil: null });
    deps.logger.info({ endpoint_id: endpointId }, 'an endpoint waits for the second factor of whoever answers for it');
    return { ...nothing, waitMs: isDue ? factorPauseMs : null };
  }
  const tokens = refilled(queue, endpoint.maxPerSecond, now);
  const isBlocked = queue.blockedUntil !== null && queue.blockedUntil > now;
  const room = isBlocked ? 0 : inFlightLimit(queue, endpoint.maxInFlight) - inFlight;
  const limit = Math.max(0, Math.min(room, Math.floor(tokens), maxCount()));
  const claimIds = Array.from({ length: limit }, () => newId());
  const claimed = await claimMessages(unit, { endpointId, isOrdered, claimIds, leaseMs });
  queue = { ...queue, tokens: tokens - claimed.length, tokensAt: now };
  if (claimed.length > 0 || inFlight > 0) {
    const lease = new Date(now.getTime() + leaseMs);
    await saveQueue(unit, endpointId, queue, { nextAt: lease, sendingUntil: lease });
    return { begun: await prepare(deps, unit, endpoint, claimed), hasRoom: limit > claimed.length, waitMs: null };
  }
  const due = await nextDue(unit, endpointId, isOrdered);
  const mayBeginAt = new Date(
    Math.max(now.getTime() + (tokens < 1 ? refillMs : 0), queue.blockedUntil?.getTime() ?? 0),
  );
  await saveQueue(unit, endpointId, queue, { nextAt: mayBeginAt, sendingUntil: null });
  const at = due === null ? null : Math.max(due.getTime(), mayBeginAt.getTime());
  return { begun: [], hasRoom: limit > 0, waitMs: at === null ? null : at - now.getTime() };
}

/** Records what people have to know, and disables the endpoint if it has to be. @returns whether it was disabled */
async function tellOf(
  unit: UnitOfWork,
  endpoint: Endpoint,
  outcomes: readonly Outcome[],
  { failingSince }: QueueState,
): Promise<boolean> {
  if (endpoint.status === 'disabled') return false;
  if (outcomes.some(({ isToTell }) => isToTell) && failingSince !== null)
    unit.emit(customEvent(webhookEndpoint, 'failing', endpoint, { since: failingSince.toISOString() }));
  const reason = outcomes.find(({ disabled }) => disabled)?.disabled;
  if (reason === undefined) return false;
  await disable(unit, endpoint, reason);
  return true;
}

/**
 * Whether the person who answers for an endpoint is still there with the membership with which they took that on, and has the rights that
 * it needs. `suspended`: they are a member who lacks a second factor that
 * the organization requires, and have their rights again as soon as they have set one up.
 */
async function rightsBehind(
  { contextOfCallers }: WebhookDependencies,
  unit: UnitOfWork,
  endpoint: Endpoint,
): Promise<'held' | 'suspended' | 'lost'> {
  const { responsibleId, responsibleMembershipId, organizationId, scopes } = endpoint;
  if (responsibleId === null) return 'held';
  if (responsibleMembershipId === null || !(await isMembershipLive(unit, responsibleMembershipId))) return 'lost';
  const state = await readMembershipState(unit, responsibleId, organizationId);
  if (state.lacksSecondFactor) return 'suspended';
  const caller = callerIn(responsibleId, organizationId, state, await contextOfCallers());
  const offered = new Set(offeredScopes(unit.registry, 'endpoint', caller));
  return isManager(caller.role) && scopes.every((scope) => offered.has(scope)) ? 'held' : 'lost';
}

async function disable(
  unit: UnitOfWork,
  endpoint: Endpoint,
  reason: 'gone' | 'failing' | 'rights_lost',
): Promise<void> {
  const changes = { status: 'disabled', disabledReason: reason, disabledAt: unit.clock.now() } as const;
  const disabled = await unit.data.update(webhookEndpoint, endpoint.id, changes);
  unit.emit(customEvent(webhookEndpoint, 'disabled', disabled, { reason }));
}

async function prepare(
  deps: WebhookDependencies,
  unit: UnitOfWork,
  endpoint: Endpoint,
  claimed: readonly ClaimedMessage[],
): Promise<PreparedMessage[]> {
  if (claimed.length === 0) return [];
  const secrets = await secretsOf(deps, endpoint, unit.clock.now());
  const records = endpoint.includesRecord ? await recordsFor(deps, unit, endpoint, claimed) : undefined;
  return claimed.map((message) => {
    const record: MessageRecord = records && (records.get(message.entityId) ?? null);
    const module = unit.registry.modules.find(({ topic }) => topic === message.entityKind);
    const body = messageBody(message, endpoint.organizationId, module, record);
    return { message, url: endpoint.url, secrets, body };
  });
}

async function secretsOf({ database }: WebhookDependencies, endpoint: Endpoint, now: Date): Promise<string[]> {
  const { rotatedAt, formerSecret } = endpoint;
  const isCurrent = rotatedAt !== null && now.getTime() - rotatedAt.getTime() < formerSecretMs;
  const fields = formerSecret !== null && isCurrent ? ['secret', 'formerSecret'] : ['secret'];
  const opened = await Promise.all(
    fields.map((field) => openSealedValue(database.options, webhookEndpoint, { ...endpoint }, field)),
  );
  return opened.map(({ secret }) => secret);
}

/** The records of messages as the endpoint can read them now, with the rights of an API token of its scopes. */
async function recordsFor(
  { contextOfCallers }: WebhookDependencies,
  unit: UnitOfWork,
  { id, organizationId, scopes }: Endpoint,
  claimed: readonly ClaimedMessage[],
): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
  const relations = relationsOfScopes(scopes);
  const state = await readMembershipState(unit, '*', organizationId);
  const { entitled, ...context } = await contextOfCallers();
  const caller: Caller = callerOf({
    kind: 'api_token',
    subjectId: id,
    organizationId,
    relations,
    limits: relations,
    ...entitled(state),
    ...context,
  });
  const data = unit.data.as(caller);
  const found = new Map<string, Readonly<Record<string, unknown>>>();
  for (const [topic, messages] of Map.groupBy(claimed, ({ entityKind }) => entityKind)) {
    const module = unit.registry.modules.find((one) => one.topic === topic);
    if (!module) continue;
    const ids = [...new Set(messages.map(({ entityId }) => entityId))];
    for (const [recordId, record] of await shownRecords(data, module, ids)) found.set(recordId, record);
  }
  return found;
}
