import type { EntityModule } from '../../kit/model/define.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { ApprovalWork, LockedInstance, Proposal, Row } from './approval-work.ts';
import { cancelPending } from './assignments.ts';
import { journal } from './journal.ts';

/** How and why an instance ends. */
export interface InstanceEnd {
  readonly status: 'completed' | 'rejected' | 'cancelled';
  /** Text for people. */
  readonly reason: string | null;
  /** Why its proposal is not applied. */
  readonly code?: string;
  /** Person who ended it. */
  readonly actorId?: string | null;
  /** Status of a proposal that is still open; `rejected` when left out. */
  readonly proposalStatus?: 'rejected' | 'withdrawn';
}

/**
 * Ends an instance: what is open of it is cancelled and never approved, and an open proposal ends with it. It does nothing to an instance
 * that has ended.
 */
export async function endInstance(work: ApprovalWork, locked: LockedInstance, end: InstanceEnd): Promise<void> {
  const { data, unit } = work;
  const { instance } = locked;
  if (instance.endedAt !== null) return;
  const { status, reason, code, actorId = null } = end;
  await cancelPending(work, locked, reason ?? 'The workflow has ended.');
  await endProposal(work, locked, end);
  const endedAt = unit.clock.now();
  const ended = await data.update(workflowInstance, instance.id, { status, endedAt, reason, waitingUntil: null });
  const details = { status, reason, ...(code === undefined ? {} : { code }) };
  await journal(work, instance, 'workflow_completed', { personId: actorId, details });
  unit.emit(customEvent(workflowInstance, 'ended', ended, { status }));
}

/** Ends a proposal that is neither applied nor withdrawn: its values are not written. */
export async function endProposal(work: ApprovalWork, locked: LockedInstance, end: InstanceEnd): Promise<void> {
  const { held, instance } = locked;
  if (!held?.proposal) return;
  // It may have been applied in this transaction.
  const proposal = (await work.data.findOne(held.module, { id: { eq: held.proposal.id } })) as Proposal | undefined;
  if (proposal?.status !== 'draft' && proposal?.status !== 'submitted') return;
  const { code = end.status, reason, actorId = null, proposalStatus = 'rejected' } = end;
  const endedAt = work.unit.clock.now();
  const values = { status: proposalStatus, endedAt, reasonCode: code, reason, openKey: null };
  emitEnded(work, held.module, await work.data.update(held.module, proposal.id, values), proposalStatus);
  await journal(work, instance, 'proposal_rejected', { personId: actorId, details: { status: proposalStatus, code } });
}

/** Announces the end of a proposal. */
export function emitEnded({ unit }: ApprovalWork, module: EntityModule, row: Row, status: string): void {
  // Derived kinds have no types of their own; all proposal kinds declare the event.
  const kind = module as EntityModule & typeof workflowInstance;
  unit.emit(customEvent(kind, 'ended', row as never, { status }));
}
