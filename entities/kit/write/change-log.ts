import { systemScope } from '../access/authorization-state.ts';
import type { DatabaseOptions } from '../access/database-options.ts';
import { newId } from '../base/ids.ts';
import { silentActors } from '../model/caller.ts';
import { publicKinds } from '../model/event-catalogue.ts';
import { concernedBy, type ChangePayload } from '../model/events.ts';
import { soleOrganizationOf, type RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Origin } from '../model/work-context.ts';
import { deduplicateTuples } from '../model/tuples.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeWork } from './change-work.ts';
import { objectRows, verdictRows, type ObjectRow, type VerdictRow } from './object-changes.ts';
import { draftOf, draftsOfFields } from './custom-events.ts';
import { feedRows, type FeedRow } from '../outbox/feed-rows.ts';
import type { EventDraft } from '../model/event-draft.ts';
import { scheduleAfterCommitHooks } from './run-hooks.ts';
import { tupleRows } from './tuple-rows.ts';

/**
 * Records a set of changes in one statement: history, outbox events, desired tuples, owners of objects and verdicts on them. They are committed or rolled
 * back together with the changed rows.
 * @throws AppError not_found when an organization in which a record was created is deleted, and for a file that was removed;
 * organization_archived
 */
export async function recordChanges(
  session: RoleSession,
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  work: ChangeWork,
): Promise<void> {
  const { entries, countEffects } = prepareRecords(changes, drafts, work);
  if (Object.values(entries).every((list) => list.length === 0)) return;
  countEffects(await write(session, entries, work.options));
}

/** Records of changes: the document of `write_records`, and the numbers to add once it is written. */
interface PreparedRecords {
  readonly entries: Entries;
  /** @param written what `write_changes` returns: the number of pending events and messages */
  readonly countEffects: (written: number) => void;
}

/** The document with all that is recorded of a set of changes. Hooks after the commit are scheduled with it. */
export function prepareRecords(
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  work: ChangeWork,
): PreparedRecords {
  scheduleAfterCommitHooks(work, changes);
  for (const change of changes) work.counters.addRecord(change);
  const { options, origin } = work;
  const by = { actor: work.actor, request_id: origin.requestId, at: work.clock.now().toISOString() };
  const tuples = tupleRows(changes, work.counters);
  const announcing = silentActors.has(by.actor) ? [] : changes;
  const events = eventRows(announcing, drafts, by, { options, origin });
  const announced = publicKindsIn(events, publicKinds(work.registry));
  const objects = objectRows(changes, by);
  const verdicts = verdictRows(changes);
  const recorded = changes.map((change) => ({ change, id: newId() }));
  const feed = options.feedsSubscribers ? feedRows(recorded) : [];
  const entries = {
    history: options.recordHistory ? historyEntries(recorded, by) : [],
    events,
    tuples: deduplicateTuples(tuples),
    created: changes.flatMap(kindOfCreation),
    created_in: [...new Set(changes.flatMap(organizationOfCreation))],
    ...changedIn(changes, work),
    // Most changes concern no file, and `write_records` then looks for none.
    ...(objects.length > 0 ? { objects } : {}),
    ...(verdicts.length > 0 ? { verdicts } : {}),
    ...(announced.length > 0 ? { public_kinds: announced } : {}),
    ...(feed.length > 0 ? { feed } : {}),
  };
  return {
    entries,
    countEffects: (written) =>
      work.counters.add({
        pendingEvents: written,
        tupleChanges: tuples.length,
        objectChanges: objects.length,
        feedChanges: feed.length,
        raisedScopes: new Set(tuples.flatMap((tuple) => (tuple.raises ? [tuple.organization_id ?? systemScope] : []))),
      }),
  };
}

/** The entry of a new record in `record_kinds`, for look-ups by id alone. With an organization, only callers in it can find the record. */
function kindOfCreation({ module, operation, id, organizationId }: RecordedChange): object[] {
  if (operation !== 'created') return [];
  return [{ id, kind: module.topic, organization_id: soleOrganizationOf(module, organizationId) }];
}

/** The organization of a new record. The foreign key has locked it; `write_records` fails when it is deleted. */
function organizationOfCreation({ module, operation, organizationId }: RecordedChange): string[] {
  return operation === 'created' && module.tenancy === 'organization' && organizationId !== null
    ? [organizationId]
    : [];
}

/**
 * The organizations in which people and programs change something; `write_records` fails when one of them is archived. Changes that they
 * make with the rights of the server are included. Changes that the server makes by itself are not, nor are deletions that end an archived
 * organization, and their announcements.
 */
function changedIn(changes: readonly RecordedChange[], { context, registry }: ChangeWork): { changed_in?: string[] } {
  if (context.caller.kind === 'system') return {};
  const organizations = changes.flatMap((change) => {
    const { module, operation, organizationId, changedFields, isCascaded, isConsequence } = change;
    const isEnding =
      operation === 'deleted'
        ? registry.endsWithOrganization(module.kind)
        : operation === 'updated' && registry.announcesDeletion(module.kind, changedFields);
    return module.tenancy === 'organization' && organizationId !== null && !isCascaded && !isConsequence && !isEnding
      ? [organizationId]
      : [];
  });
  return organizations.length > 0 ? { changed_in: [...new Set(organizations)] } : {};
}

export interface Entries {
  readonly history: readonly object[];
  readonly events: readonly EventRow[];
  readonly tuples: readonly object[];
  /** Entries of `record_kinds` for created records. */
  readonly created: readonly object[];
  /** Organizations in which rows were created. */
  readonly created_in: readonly string[];
  readonly changed_in?: readonly string[];
  readonly objects?: readonly ObjectRow[];
  readonly verdicts?: readonly VerdictRow[];
  /** Kinds of these events that endpoints can receive: `write_changes` decides which endpoints of the organizations want them. */
  readonly public_kinds?: readonly string[];
  /** Messages for subscribers. */
  readonly feed?: readonly FeedRow[];
}

async function write(
  session: RoleSession,
  entries: Entries,
  { failOnEnqueueError, onBackgroundError }: DatabaseOptions,
): Promise<number> {
  const { events } = entries;
  if (events.length === 0 || failOnEnqueueError()) return send(session, entries);
  // `workflows.dispatch.failonenqueueerror` is off: the change is kept even when its events cannot be recorded.
  await session.query('savepoint before_events');
  try {
    const written = await send(session, entries);
    await session.query('release savepoint before_events');
    return written;
  } catch (error) {
    await session.query('rollback to savepoint before_events');
    onBackgroundError(error, `recording ${events.length} events; the change is kept without them`);
    return await send(session, { ...entries, events: [] });
  }
}

/** @returns the number of pending events and of messages to endpoints */
async function send(session: RoleSession, entries: Entries): Promise<number> {
  // A SECURITY DEFINER function: the app role can add rows to these tables through it, but cannot read or change them.
  const { rows } = await session.query<{ written: number }>('select write_changes($1) as written', [
    JSON.stringify(entries),
  ]);
  return rows[0]?.written ?? 0;
}

/** Actor, request and time (RFC 3339) of a change. Every recorded row carries it. */
interface RecordedBy {
  readonly actor: string;
  readonly request_id: string;
  readonly at: string;
}

interface RecordedEntry {
  readonly change: RecordedChange;
  readonly id: string;
}

/** Rows of the table `history`: one for each change, with a snapshot of the record after it. */
function historyEntries(recorded: readonly RecordedEntry[], by: RecordedBy): object[] {
  return recorded.map(({ change, id }) => ({
    ...by,
    id,
    entity_kind: change.module.topic,
    entity_id: change.id,
    organization_id: change.organizationId,
    operation: change.operation,
    record_version: change.recordVersion,
    changed_fields: namesWithoutSecrets(change),
    snapshot: snapshotOf(change),
  }));
}

function changePayloadOf(change: RecordedChange): ChangePayload & { readonly userId?: string } {
  const changed = namesWithoutSecrets(change);
  return change.module.announced?.concerns ? { changed, userId: change.after['userId'] as string } : { changed };
}

/**
 * Names of the changed fields, without secret fields of the server. The event reports that a sealed field was changed, and never its value.
 */
function namesWithoutSecrets({ module, operation, changedFields }: RecordedChange): string[] {
  const isTold = (name: string) => module.fields[name]?.isSealed && operation !== 'deleted';
  return changedFields.filter((name) => !isSecret(module, name) || isTold(name));
}

function isSecret(module: EntityModule, field: string): boolean {
  return module.fields[field]?.secret ?? false;
}

/**
 * Values of the record after the change, without secrets. Its organization is in a column of its own; the person to whom it belongs is not.
 */
function snapshotOf({ module, after }: RecordedChange): Record<string, unknown> {
  const owner = module.tenancy === 'user' ? ['userId'] : [];
  return Object.fromEntries(
    [...owner, ...Object.keys(module.fields)]
      .filter((name) => !isSecret(module, name))
      .map((name) => [name, after[name] ?? null]),
  );
}

interface EventRow {
  readonly entity_kind: string;
  readonly organization_id: string | null;
  readonly concerns?: readonly string[];
  readonly concerns_member?: string;
  /** Whether the topic has a listener; the relay claims only such events. */
  readonly pending: boolean;
  /** It is pending if a published version of its organization wants the topic, or if an instance about its deleted record is open. */
  readonly on_demand?: true;
}

function publicKindsIn(events: readonly EventRow[], known: ReadonlySet<string>): string[] {
  const kinds = events.flatMap(({ entity_kind, organization_id, concerns, concerns_member }) =>
    organization_id === null && concerns === undefined && concerns_member === undefined ? [] : [entity_kind],
  );
  return [...new Set(kinds)].filter((kind) => known.has(kind));
}

/** Rows of the table `events`: one for each change whose kind declares the event, except cascaded ones, and one for each custom event, also of those that follow from fields. */
function eventRows(
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  by: RecordedBy,
  {
    options,
    origin: { traceparent, request },
  }: { options: Pick<DatabaseOptions, 'hasListener' | 'hasListenerOnDemand'>; origin: Origin },
): EventRow[] {
  const recorded = [
    ...changes
      .filter((change) => !change.isCascaded && change.module.events.includes(change.operation))
      .map((change) => ({
        ...draftOf(change.module, change.operation, change, changePayloadOf(change)),
        ...concernedBy(change.module, change.after, change.before),
      })),
    ...changes.flatMap(draftsOfFields),
    ...drafts,
  ];
  return recorded.map((event) => ({
    ...by,
    id: newId(),
    topic: event.topic,
    entity_kind: event.entityKind,
    entity_id: event.entityId,
    record_version: event.recordVersion,
    organization_id: event.organizationId,
    ...(event.concerns ? { concerns: event.concerns } : {}),
    ...(event.concernsMember === undefined ? {} : { concerns_member: event.concernsMember }),
    traceparent: traceparent ?? null,
    ...request,
    payload: event.payload ?? {},
    ...pendingOf(event.topic, options),
  }));
}

function pendingOf(
  topic: string,
  { hasListener, hasListenerOnDemand }: Pick<DatabaseOptions, 'hasListener' | 'hasListenerOnDemand'>,
): Pick<EventRow, 'pending' | 'on_demand'> {
  if (hasListener(topic)) return { pending: true };
  return { pending: false, ...(hasListenerOnDemand(topic) ? { on_demand: true } : {}) };
}
