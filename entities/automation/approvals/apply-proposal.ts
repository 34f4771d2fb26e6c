import { isDeepStrictEqual } from 'node:util';
import type { LaterPrincipal } from '../../kit/access/later-caller.ts';
import { isAppError, isRefusal, type AppError } from '../../kit/base/errors.ts';
import type { Caller } from '../../kit/model/caller.ts';
import { valuesOfRecord } from '../proposed-values.ts';
import { workflowEvent } from '../workflow-event.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { ApprovalWork, LockedInstance, Proposal, Row } from './approval-work.ts';
import { emitEnded } from './end-instance.ts';
import { journal } from './journal.ts';

/** Result of applying a proposal. */
export type Applied =
  | { readonly is: 'applied' }
  | { readonly is: 'refused'; readonly code: string; readonly reason: string };

/**
 * A statement was refused, such as by a unique key, and nothing more can be written in this transaction. Its caller records the refusal in
 * another one.
 */
export class RefusedWhenWritten extends Error {
  readonly code: string;

  constructor(cause: AppError) {
    super(cause.message, { cause });
    this.name = 'RefusedWhenWritten';
    this.code = cause.code;
  }
}

export interface Applying {
  /** The submitter with the rights of today (`readLaterCaller`). @throws AppError permission_denied */
  readonly callerOf: (principal: LaterPrincipal) => Promise<Caller>;
  /** Person who decides that it is applied without the approvals; null for a proposal that is approved. */
  readonly forcedBy?: string | null;
}

/**
 * Writes the values of a proposal, exactly these, as the person who submitted it, with the rights and rules of today. The caller has counted
 * the approvals in the same transaction. A proposal that cannot be applied is left as it is.
 * @throws RefusedWhenWritten when the transaction must be rolled back; AppError for failures that a repetition can remove, such as an unavailable
 * store
 */
export async function applyProposal(
  work: ApprovalWork,
  locked: LockedInstance,
  { callerOf, forcedBy = null }: Applying,
): Promise<Applied> {
  const { held, instance, record } = locked;
  const proposal = held?.proposal;
  if (!held || proposal?.status !== 'submitted')
    return { is: 'refused', code: 'proposal_ended', reason: 'The proposal has ended.' };
  if (!record) return { is: 'refused', code: 'not_found', reason: 'The record is deleted.' };
  const stale = changedSince(record, proposal);
  if (stale.length > 0) {
    const reason = `These fields have changed since the change was submitted: ${stale.join(', ')}.`;
    return { is: 'refused', code: 'stale_record', reason };
  }
  // Before the change: the deletion of a record deletes its proposals as well.
  const applied = { status: 'applied', endedAt: work.unit.clock.now(), openKey: null };
  const ended = await work.data.update(held.module, proposal.id, applied);
  const refusal = await write(work, locked, proposal, callerOf);
  if (refusal) {
    const { status, openKey } = proposal;
    await work.data.update(held.module, proposal.id, { status, openKey, endedAt: null });
    return { is: 'refused', code: refusal.code, reason: refusal.message };
  }
  emitEnded(work, held.module, ended, 'applied');
  // Later actions concern the written change. An instance of its own can hold the next change meanwhile.
  await work.data.update(workflowInstance, instance.id, { openKey: null });
  const details = { hash: proposal.hash, revision: proposal.revision, isForced: forcedBy !== null };
  await journal(work, instance, 'proposal_applied', { personId: forcedBy, details });
  return { is: 'applied' };
}

/**
 * @returns why the change is refused; undefined when it is written
 * @throws RefusedWhenWritten
 */
async function write(
  { unit }: ApprovalWork,
  { module, instance: { subjectId, organizationId } }: LockedInstance,
  { submitterId, submitterTokenId, trigger, changes }: Proposal,
  callerOf: Applying['callerOf'],
): Promise<AppError | undefined> {
  let isPlanned = false;
  unit.passing.add(subjectId);
  try {
    const caller = await callerOf({ userId: submitterId, organizationId, tokenId: submitterTokenId });
    // Changes that were buffered before do not belong to this one.
    await unit.flush();
    await unit.actAs(caller, async (data) => {
      if (trigger === 'delete') await data.remove(module, subjectId);
      else await data.update(module, subjectId, changes);
      isPlanned = true;
    });
    return undefined;
  } catch (error) {
    if (!isFinal(error)) throw error;
    if (isPlanned) throw new RefusedWhenWritten(error);
    return error;
  } finally {
    unit.passing.delete(subjectId);
  }
}

/** Whether the change of an instance was written; a deletion has deleted its proposal with the record. */
export async function isApplied({ data }: ApprovalWork, { instance, held }: LockedInstance): Promise<boolean> {
  if (held?.proposal) return held.proposal.status === 'applied';
  return (await appliedEntry(data, instance.id)) !== undefined;
}

/** The entry in the journal of an instance that its change was written. */
export function appliedEntry(data: ApprovalWork['data'], instanceId: string) {
  return data.findOne(workflowEvent, { instanceId: { eq: instanceId }, type: { eq: 'proposal_applied' } });
}

/** Whether the change is refused by a rule or by what is stored: a repetition of the same change does not help. */
export function isFinal(error: unknown): error is AppError {
  return isAppError(error) && (isRefusal(error) || error.category === 'conflict');
}

/** Names of the proposed fields whose values are no longer those that the change was based on. */
export function changedSince(record: Row, { baseValues }: Pick<Proposal, 'baseValues'>): string[] {
  const names = Object.keys(baseValues);
  const current = valuesOfRecord(record, names);
  return names.filter((name) => !isDeepStrictEqual(current[name], baseValues[name]));
}
