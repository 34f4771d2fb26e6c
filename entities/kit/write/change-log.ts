import { systemScope } from '../access/authorization-state.ts';
import type { DatabaseOptions } from '../access/database-options.ts';
import { actorOf } from '../model/caller.ts';
import type { RecordedChange } from '../model/changes.ts';
import { deduplicateTuples } from '../model/tuples.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeEffects } from './change-effects.ts';
import type { ChangeWork } from './change-work.ts';
import type { EventDraft } from './event-draft.ts';
import { eventRows, type EventRow } from './event-rows.ts';
import { historyEntries } from './history-entries.ts';
import { scheduleAfterCommitHooks } from './run-hooks.ts';
import { tupleRows } from './tuple-rows.ts';

/**
 * Records a set of changes in one statement: history, outbox events and desired tuples. They commit or vanish together with the
 * rows they describe.
 * @throws AppError not_found when an organization in which a record was created is deleted
 */
export async function recordChanges(
  session: RoleSession,
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  work: ChangeWork,
): Promise<ChangeEffects> {
  scheduleAfterCommitHooks(work, changes);
  const { options, origin } = work;
  const by = { actor: actorOf(work.context.caller), request_id: origin.requestId, at: work.clock.now().toISOString() };
  const tuples = tupleRows(changes, work.counters);
  const entries = {
    history: options.recordHistory ? historyEntries(changes, by) : [],
    events: eventRows(changes, drafts, by, { hasListener: options.hasListener, traceparent: origin.traceparent }),
    tuples: deduplicateTuples(tuples),
    created: changes.flatMap(kindOfCreation),
    created_in: [...new Set(changes.flatMap(organizationOfCreation))],
  };
  if (Object.values(entries).every((list) => list.length === 0))
    return { pendingEvents: 0, tupleChanges: 0, raisedScopes: new Set() };
  const events = await write(session, entries, options);
  return {
    pendingEvents: events.filter(({ pending }) => pending).length,
    tupleChanges: tuples.length,
    raisedScopes: new Set(tuples.flatMap((tuple) => (tuple.raises ? [tuple.organization_id ?? systemScope] : []))),
  };
}

/** The kind of a new record, by which it can be found by its id alone: within its organization if it is visible nowhere else. */
function kindOfCreation({ module, operation, id, organizationId }: RecordedChange): object[] {
  if (operation !== 'created') return [];
  const isOfOneOrganization = module.tenancy === 'organization' && module.rlsUsing === undefined;
  return [{ id, kind: module.topic, organization_id: isOfOneOrganization ? organizationId : null }];
}

/** An organization in which a row is created must not be deleted meanwhile. */
function organizationOfCreation({ module, operation, organizationId }: RecordedChange): string[] {
  return operation === 'created' && module.tenancy === 'organization' && organizationId !== null
    ? [organizationId]
    : [];
}

interface Entries {
  readonly history: readonly object[];
  readonly events: readonly EventRow[];
  readonly tuples: readonly object[];
  /** Kinds of created records. */
  readonly created: readonly object[];
  /** Organizations in which rows were created. */
  readonly created_in: readonly string[];
}

/** @returns the events that were written */
async function write(
  session: RoleSession,
  entries: Entries,
  { failOnEnqueueError, onBackgroundError }: DatabaseOptions,
): Promise<readonly EventRow[]> {
  const { events } = entries;
  if (events.length === 0 || failOnEnqueueError()) {
    await send(session, entries);
    return events;
  }
  // `workflows.dispatch.failonenqueueerror` is off: the change is kept also when its events cannot be recorded.
  await session.query('savepoint before_events');
  try {
    await send(session, entries);
    await session.query('release savepoint before_events');
    return events;
  } catch (error) {
    await session.query('rollback to savepoint before_events');
    onBackgroundError(error, `recording ${events.length} events; the change is kept without them`);
    await send(session, { ...entries, events: [] });
    return [];
  }
}

async function send(session: RoleSession, entries: Entries): Promise<void> {
  // A security-definer function: the app role may add to these tables through it, and neither read nor change them.
  await session.query('select write_records($1)', [JSON.stringify(entries)]);
}
