import type { EntityModule, RowOf } from '../../kit/model/define.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import { keptChange } from '../kept-change.ts';
import { gateInstanceKey, proposedValues, type ProposedValues } from '../proposed-values.ts';
import { workflowInstance } from '../workflow-instance.ts';
import { workflowVersion } from '../workflow-version.ts';
import type { ApprovalWork, Instance, LockedInstance, Proposal, Row } from './approval-work.ts';
import { emitEnded } from './end-instance.ts';
import { journal } from './journal.ts';
import { proposalsOf } from './lock-instance.ts';

/**
 * Proposes other values in place of those of an open proposal. A new round begins: everybody is asked again, under the newest version of
 * the definition, and decisions about the former values are not valid for the new ones.
 */
export async function resubmit(
  work: ApprovalWork,
  { instance, held }: LockedInstance,
  values: ProposedValues,
): Promise<Proposal> {
  const { data, unit } = work;
  if (!held?.proposal || instance.endedAt !== null) throw new Error(`the instance ${instance.id} has no open proposal`);
  const { id, revision } = held.proposal;
  const submitted = { ...values, revision: revision + 1, status: 'submitted', submittedAt: unit.clock.now() };
  const proposal = (await data.update(held.module, id, submitted)) as unknown as Proposal;
  const version = await versionInForce(work, instance.definitionId);
  const started = await data.update(workflowInstance, instance.id, nextRound(instance, version?.id));
  emitSubmitted(unit, held.module, proposal);
  unit.emit(customEvent(workflowInstance, 'round_started', started, { round: started.round }));
  return proposal;
}

/** The values of an instance whose next round begins. @param versionId of the version that decides; undefined: the one of before */
export function nextRound({ round, versionId: former }: Pick<Instance, 'round' | 'versionId'>, versionId = former) {
  return { round: round + 1, versionId, status: 'running', waitingUntil: null, reason: null } as const;
}

/** A submitted proposal without an instance, and the version that decides. */
export interface NewInstance {
  /** Kind of the record. */
  readonly module: EntityModule;
  readonly proposal: Proposal;
  readonly version: Pick<RowOf<typeof workflowVersion>, 'id' | 'definitionId'>;
  /** Record that the proposal is about. */
  readonly record: Row;
}

/** Begins the workflow that decides about a proposal. */
export async function beginInstance(
  work: ApprovalWork,
  { module, proposal, version, record }: NewInstance,
): Promise<Instance> {
  const { data } = work;
  const proposals = proposalsOf(work, module);
  const given = instanceOfProposal(module, proposal, version, record, work.unit.clock.now());
  const instance = await data.create(workflowInstance, given);
  await data.update(proposals, proposal.id, { instanceId: instance.id });
  await journal(work, instance, 'workflow_triggered', {
    personId: proposal.submitterId,
    details: { hash: proposal.hash, revision: proposal.revision },
  });
  return instance;
}

/** Parts of a proposal that its instance repeats. */
type InstanceBasis = Pick<
  Proposal,
  'id' | 'organizationId' | 'trigger' | 'changes' | 'baseValues' | 'submitterId' | 'submitterTokenId'
>;

/** The values of the instance that decides about a proposal. */
export function instanceOfProposal(
  { kind: recordKind }: EntityModule,
  { id: proposalId, organizationId, trigger, changes, baseValues, submitterId, submitterTokenId }: InstanceBasis,
  { id: versionId, definitionId }: NewInstance['version'],
  record: Row,
  at: Date,
) {
  const subjectId = record['id'] as string;
  return {
    organizationId,
    definitionId,
    versionId,
    recordKind,
    subjectId,
    trigger,
    proposalId,
    initiatorId: submitterId,
    initiatorTokenId: submitterTokenId,
    context: {
      change: keptChange({
        recordVersion: record['recordVersion'] as number,
        changedFields: Object.keys(changes),
        oldValues: baseValues,
        userId: submitterId,
        at,
      }),
    },
    openKey: gateInstanceKey(definitionId, subjectId),
  };
}

/** A draft, and its record. */
interface Draft {
  readonly proposals: EntityModule;
  readonly proposal: Proposal;
  readonly record: Row;
}

/** Proposes other values in a draft. Nobody is asked about it yet. */
export async function reviseDraft(
  { data }: ApprovalWork,
  { proposals, proposal }: Draft,
  values: ProposedValues,
): Promise<Proposal> {
  const revised = { ...values, revision: proposal.revision + 1 };
  return (await data.update(proposals, proposal.id, revised)) as unknown as Proposal;
}

/** Submits a draft, based on the values that the record has now. */
export async function submitDraft(
  { data, unit }: ApprovalWork,
  { proposals, proposal, record }: Draft,
): Promise<Proposal> {
  const values = proposedValues(record, proposal.changes);
  const submitted = { ...values, status: 'submitted', submittedAt: unit.clock.now() };
  return (await data.update(proposals, proposal.id, submitted)) as unknown as Proposal;
}

/** Ends a draft, about which no workflow decides yet. */
export async function withdrawDraft(
  work: ApprovalWork,
  { proposals, proposal }: Pick<Draft, 'proposals' | 'proposal'>,
  reason: string | null,
): Promise<void> {
  const ended = { status: 'withdrawn', endedAt: work.unit.clock.now(), reasonCode: 'withdrawn', reason, openKey: null };
  emitEnded(work, proposals, await work.data.update(proposals, proposal.id, ended), 'withdrawn');
}

/** The version of a definition that holds changes now; undefined if none does. */
export async function versionInForce({ data }: ApprovalWork, definitionId: string) {
  const [newest] = await data.find(workflowVersion, {
    where: { definitionId: { eq: definitionId } },
    orderBy: [{ field: 'number', direction: 'desc' }],
    limit: 1,
  });
  return newest?.isGate === true && newest.endedAt === null ? newest : undefined;
}

/** Announces that people are asked about the values of a proposal. */
export function emitSubmitted(
  unit: Pick<UnitOfWork, 'emit'>,
  module: EntityModule,
  proposal: Pick<Proposal, 'id' | 'revision' | 'recordVersion'> & Row,
): void {
  // Derived kinds have no types of their own; all kinds of proposals declare the event.
  unit.emit(customEvent(module as never, 'submitted' as never, proposal, { revision: proposal.revision } as never));
}
