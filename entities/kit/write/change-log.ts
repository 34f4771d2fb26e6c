import { draftOf } from './custom-events.ts';
import { systemScope } from '../access/authorization-state.ts';
import { actorOf } from '../model/caller.ts';
import type { RecordedChange } from '../model/changes.ts';
import type { Database } from '../unit/database.ts';
import type { EntityModule } from '../model/define.ts';
import { tellAfterCommit } from '../model/hooks.ts';
import { newId } from '../base/ids.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { oneByOne, tupleChanges } from '../model/tuples.ts';
import type { UnitOfWork } from '../unit/unit-of-work.ts';

/** An announcement a handler makes itself. Payloads hold ids and small values, never secrets. */
export interface EventDraft {
  /** `<entity>.<past tense>`. */
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
}

export interface ChangeEffects {
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  /** Scopes in which decisions about records change that were there before. */
  readonly raisedScopes: ReadonlySet<string>;
}

/**
 * Writes what follows from a set of changes in one statement: history, outbox events and desired tuples. They commit or
 * vanish together with the rows they describe.
 * @throws AppError not_found when an organization in which something was created is deleted
 */
export async function writeRecords(
  session: RoleSession,
  changes: readonly RecordedChange[],
  drafts: readonly EventDraft[],
  unit: UnitOfWork,
): Promise<ChangeEffects> {
  tellAfterCommit(unit, changes);
  const { database, origin } = unit;
  const actor = actorOf(unit.context.caller);
  const at = database.options.clock.now().toISOString();
  const common = { actor, request_id: origin.requestId, at };

  const history = database.options.recordHistory
    ? changes.map((change) => ({
        ...common,
        id: newId(),
        entity_kind: change.module.topic,
        entity_id: change.id,
        organization_id: change.organizationId,
        operation: change.operation,
        record_version: change.recordVersion,
        changed_fields: tellableFields(change),
        snapshot: snapshotOf(change),
      }))
    : [];

  const announced = [
    ...changes
      .filter((change) => !change.isCascaded && change.module.events.includes(change.operation))
      .map((change) => draftOf(change.module, change.operation, change, { changed: tellableFields(change) })),
    ...drafts,
  ];
  const events = announced.map((event) => ({
    ...common,
    id: newId(),
    topic: event.topic,
    entity_kind: event.entityKind,
    entity_id: event.entityId,
    record_version: event.recordVersion,
    organization_id: event.organizationId,
    traceparent: origin.traceparent ?? null,
    payload: event.payload ?? {},
    pending: database.options.hasListener(event.topic),
  }));

  const tuples = changes.flatMap((change) =>
    tupleChanges(
      change.module.grants ?? [],
      change.before?.['deletedAt'] == null ? change.before : null,
      change.after['deletedAt'] == null ? change.after : null,
    ).map((tuple) => ({
      ...tuple,
      organization_id: change.organizationId,
      raises: unit.counters.isAboutOthers(tuple.object, changes),
    })),
  );

  const createdIn = changes.flatMap(({ module, operation, organizationId }) =>
    operation === 'created' && module.tenancy === 'organization' && organizationId !== null ? [organizationId] : [],
  );
  const created = changes
    .filter(({ operation }) => operation === 'created')
    .map(({ module, id, organizationId }) => ({
      id,
      kind: module.topic,
      organization_id: isOfOneOrganization(module) ? organizationId : null,
    }));
  const written = { history, events, tuples: oneByOne(tuples), created, created_in: [...new Set(createdIn)] };
  if (history.length + events.length + tuples.length + created.length === 0)
    return { pendingEvents: 0, tupleChanges: 0, raisedScopes: new Set() };
  const areEventsWritten =
    events.length === 0 || database.options.failOnEnqueueError()
      ? await write(session, written).then(() => true)
      : await writeWithEventsOrWithout(session, written, database);
  return {
    pendingEvents: areEventsWritten ? events.filter((event) => event.pending).length : 0,
    tupleChanges: tuples.length,
    raisedScopes: new Set(tuples.flatMap((tuple) => (tuple.raises ? [tuple.organization_id ?? systemScope] : []))),
  };
}

interface Records {
  readonly history: readonly object[];
  readonly events: readonly object[];
  readonly tuples: readonly object[];
  /** Kinds of the records that were created, by which they are found by id alone. */
  readonly created: readonly object[];
  /** Organizations in which rows were created: they must live. */
  readonly created_in: readonly string[];
}

async function write(session: RoleSession, records: Records): Promise<void> {
  // A security-definer function: the app role may add to these tables through it, and neither read nor change them.
  await session.query('select write_records($1)', [JSON.stringify(records)]);
}

/** `workflows.dispatch.failonenqueueerror` is off: the change counts more than its announcement. */
async function writeWithEventsOrWithout(session: RoleSession, records: Records, database: Database): Promise<boolean> {
  await session.query('savepoint before_events');
  try {
    await write(session, records);
    await session.query('release savepoint before_events');
    return true;
  } catch (error) {
    await session.query('rollback to savepoint before_events');
    database.options.onBackgroundError(
      error,
      `recording ${records.events.length} events; the change goes on without them`,
    );
    await write(session, { ...records, events: [] });
    return false;
  }
}

/** Whether records of a kind are only ever visible in the organization that they belong to. */
function isOfOneOrganization({ tenancy, rlsUsing }: EntityModule): boolean {
  return tenancy === 'organization' && rlsUsing === undefined;
}

function tellableFields({ module, changedFields }: RecordedChange): string[] {
  return changedFields.filter((name) => !isSecret(module, name));
}

function isSecret(module: EntityModule, field: string): boolean {
  return module.fields[field]?.secret ?? false;
}

function snapshotOf(change: RecordedChange): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(change.module.fields)
      .filter((name) => !isSecret(change.module, name))
      .map((name) => [name, change.after[name] ?? null]),
  );
}
