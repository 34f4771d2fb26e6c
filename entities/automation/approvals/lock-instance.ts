import type { EntityModule } from '../../kit/model/define.ts';
import { proposalKindOf } from '../../kit/model/derived/proposal.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { ApprovalWork, HeldProposal, LockedInstance, Proposal, Row } from './approval-work.ts';

/**
 * Locks an instance, before it its proposal, and before that the record, in the order of a change that is held
 * (docs/decisions/lock-order.md). Without a proposal, the record is read and not locked.
 * @returns undefined for an instance that was deleted
 */
export async function lockInstance(work: ApprovalWork, instanceId: string): Promise<LockedInstance | undefined> {
  const { data, unit } = work;
  const found = await data.findOne(workflowInstance, { id: { eq: instanceId } });
  if (!found) return undefined;
  const module = unit.registry.byKind(found.recordKind);
  const holdsChange = found.proposalId !== null;
  const record = holdsChange
    ? await data.findLocked(module, found.subjectId, found.trigger === 'delete' ? 'remove' : 'edit')
    : await data.findOne(module, { id: { eq: found.subjectId } });
  const held = holdsChange ? await lockProposal(work, module, found.proposalId) : undefined;
  const instance = await data.findLocked(workflowInstance, instanceId);
  return instance && { instance, module, record: record as Row | undefined, ...(held && { held }) };
}

/**
 * Locks an instance alone, for decisions: they change assignments only, and whatever changes the proposal locks the instance as well.
 * Record and proposal are those that others see now.
 */
export async function lockInstanceAlone(work: ApprovalWork, instanceId: string): Promise<LockedInstance | undefined> {
  const { data, unit } = work;
  const instance = await data.findLocked(workflowInstance, instanceId);
  if (!instance) return undefined;
  const module = unit.registry.byKind(instance.recordKind);
  const record = (await data.findOne(module, { id: { eq: instance.subjectId } })) as Row | undefined;
  if (instance.proposalId === null) return { instance, module, record };
  const proposals = proposalsOf(work, module);
  const proposal = (await data.findOne(proposals, { id: { eq: instance.proposalId } })) as Proposal | undefined;
  return { instance, module, record, held: { module: proposals, proposal } };
}

/** The kind of the proposals about records of a kind. */
export function proposalsOf({ unit }: Pick<ApprovalWork, 'unit'>, module: EntityModule): EntityModule {
  return unit.registry.byKind(proposalKindOf(module));
}

async function lockProposal(work: ApprovalWork, record: EntityModule, id: string): Promise<HeldProposal> {
  const module = proposalsOf(work, record);
  return { module, proposal: (await work.data.findLocked(module, id)) as Proposal | undefined };
}
