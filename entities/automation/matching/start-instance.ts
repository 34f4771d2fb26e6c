import { journal } from '../approvals/journal.ts';
import { withTraced, type TracedExpression } from '../document/traced-expressions.ts';
import { keptChange, keptChangeOf } from '../kept-change.ts';
import { hasStartedByActions } from '../started-by-actions-rows.ts';
import { gateInstanceKey } from '../proposed-values.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { workflowVersion } from '../workflow-version.ts';
import { tokenIn } from '../../kit/model/caller.ts';
import type { RowOf } from '../../kit/model/define.ts';
import type { EventRow } from '../../kit/outbox/outbox.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import type { ReportedChange } from './changes-of-event.ts';
import { instanceOfActor } from './instance-actor.ts';

type Instance = RowOf<typeof workflowInstance>;

/** Instances of a chain: each was started by what an action of the one before has changed. */
const maxChain = 10;

/**
 * Instances of an organization that actions start in an hour. Definitions whose actions create records for each other would start a power of
 * their number.
 */
const maxStartedByActions = 1_000;

const hourMs = 3_600_000;

/** Most bytes of former values that an instance keeps. */
const maxOldBytes = 100_000;

/** Why an instance starts. */
interface Cause {
  readonly event: EventRow;
  /** The instance that made the change. */
  readonly parent: Instance | undefined;
  /** Expressions that are true of the change. */
  readonly traced: readonly TracedExpression[];
}

/** The instance whose action made a change, if it was one. */
export async function parentOf(
  { data }: UnitOfWork,
  { actor }: Pick<EventRow, 'actor'>,
): Promise<Instance | undefined> {
  const id = instanceOfActor(actor);
  return id === undefined ? undefined : data.findOne(workflowInstance, { id: { eq: id } });
}

/**
 * Creates the instance of a definition that a change starts. None is created while one is open for the record, within the time that the
 * definition leaves between two, by an action of the definition itself, at the end of a long chain, and when actions have started many.
 */
export async function startInstance(
  unit: UnitOfWork,
  version: RowOf<typeof workflowVersion>,
  { module, recordId, recordVersion, change }: ReportedChange,
  { event, parent, traced }: Cause,
): Promise<Instance | undefined> {
  const { data, clock } = unit;
  const { definitionId, organizationId, cooldownSeconds } = version;
  const chain = parent ? [...((parent.chain as string[] | null) ?? []), parent.definitionId] : [];
  if (parent?.definitionId === definitionId || chain.length >= maxChain) return undefined;
  const openKey = openKeyOf(definitionId, recordId);
  // Also one that decides about a change that is held: the same request may have written other fields.
  const open = [openKey, gateInstanceKey(definitionId, recordId)];
  if (await data.findOne(workflowInstance, { openKey: { in: open } })) return undefined;
  if (parent) {
    const recent = { since: new Date(clock.now().getTime() - hourMs), count: maxStartedByActions };
    if (await hasStartedByActions(unit, organizationId, recent)) return undefined;
  }
  const since = new Date(clock.now().getTime() - cooldownSeconds * 1_000);
  const ofRecord = { definitionId: { eq: definitionId }, subjectId: { eq: recordId } };
  if (cooldownSeconds > 0 && (await data.findOne(workflowInstance, { ...ofRecord, createdAt: { gt: since } })))
    return undefined;
  const { operation, changedFields, changedEdges, addedIds, removedIds, oldObject, userId, at } = change;
  const old = oldObject && Object.fromEntries(changedFields.map((name) => [name, oldObject[name] ?? null]));
  const isKept = old !== null && Buffer.byteLength(JSON.stringify(old)) <= maxOldBytes;
  const instance = await data.create(workflowInstance, {
    organizationId,
    definitionId,
    versionId: version.id,
    recordKind: module.kind,
    subjectId: recordId,
    trigger: operation,
    initiatorId: parent ? parent.initiatorId : userId,
    initiatorTokenId: parent ? parent.initiatorTokenId : tokenIn(event.actor),
    eventId: event.id,
    chain,
    context: {
      change: keptChange({
        recordVersion,
        changedFields,
        changedEdges,
        addedIds,
        removedIds,
        oldValues: isKept ? old : null,
        userId,
        actor: parent ? keptChangeOf(parent).actor : event.actor,
        at,
      }),
    },
    openKey,
  });
  await journal({ data }, instance, 'workflow_triggered', {
    personId: instance.initiatorId,
    details: withTraced({ topic: event.topic, eventId: event.id, version: version.number }, traced),
  });
  return instance;
}

export function openKeyOf(definitionId: string, recordId: string): string {
  return `${definitionId}/${recordId}`;
}
