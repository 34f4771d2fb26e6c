import { AppError } from '../../kit/base/errors.ts';
import { existingId } from '../../kit/model/missing-record.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import type { DefinitionDocument } from '../document/definition-document.ts';
import { workflowAssignment } from '../workflow-assignment.ts';
import { workflowVersion } from '../workflow-version.ts';
import type { ApprovalWork, Assignment, LockedInstance } from './approval-work.ts';
import { askingActionsOf, type AskingAction } from './asking-action.ts';
import { askedStatesOf, passedDeadlines } from './asked-state.ts';
import { assignmentsOf } from './assignments.ts';
import { journal } from './journal.ts';
import { lockInstanceAlone } from './lock-instance.ts';
import { outcomeOf } from '../outcome.ts';
import { whoCounts } from './who-counts.ts';

export type Decision = 'approved' | 'rejected' | 'changes_requested';

/** A decision of a person about an assignment. */
export interface DecisionInput {
  readonly assignmentId: string;
  readonly userId: string;
  readonly decision: Decision;
  readonly note: string | null;
}

/** An assignment that waits for a decision, locked with its instance. */
export interface OpenAssignment {
  readonly assignment: Assignment;
  readonly locked: LockedInstance;
  readonly action: AskingAction;
  /** All assignments of the action in this round. */
  readonly asked: readonly Assignment[];
}

/**
 * Records a decision. The workflow counts it in a transaction of its own (`stepApprovals`).
 * @throws AppError not_found for a person who is not asked, or may not decide any more; already_decided; stale_record
 */
export async function decide(work: ApprovalWork, input: DecisionInput): Promise<Assignment> {
  const { userId, decision, note } = input;
  const open = await openAssignment(work, input.assignmentId, ({ userId: asked }) => asked === userId);
  const { assignment, locked, action, asked } = open;
  if (!(await whoCounts(work, locked, action, asked)).has(userId)) throw notAsked(assignment.id);
  if (decision === 'changes_requested' && action.isReview)
    throw new AppError(
      'rule_violated',
      'The change is written already, so nobody can edit it; approve it or reject it.',
    );
  const decided = await work.data.update(workflowAssignment, assignment.id, {
    status: decision,
    decidedAt: work.unit.clock.now(),
    note,
  });
  work.unit.emit(customEvent(workflowAssignment, 'decided', decided, { status: decision }));
  const details = { status: decision, round: assignment.round, hash: assignment.proposalHash };
  await journal(work, locked.instance, 'assignment_decided', { actionKey: action.key, personId: userId, details });
  return decided;
}

/**
 * An assignment that nobody has decided, locked.
 * @param isReached whether the caller may know of it
 * @throws AppError not_found; stale_record for one about former values; already_decided
 */
export async function openAssignment(
  work: ApprovalWork,
  id: string,
  isReached: (assignment: Assignment) => boolean,
): Promise<OpenAssignment> {
  const known = await work.data.findOne(workflowAssignment, { id: { eq: existingId(workflowAssignment, id) } });
  // The rights of the server reach all organizations, those of the caller the current one.
  const { organizationId } = work.unit.context.caller;
  if (!known || known.organizationId !== organizationId || !isReached(known)) throw notAsked(id);
  const locked = await lockInstanceAlone(work, known.instanceId);
  const assignment = await work.data.findLocked(workflowAssignment, id);
  if (!locked || !assignment) throw notAsked(id);
  const { instance, held } = locked;
  const isCurrent = assignment.round === instance.round && assignment.proposalHash === (held?.proposal?.hash ?? null);
  if (assignment.decidedAt === null && instance.endedAt === null && !isCurrent)
    throw new AppError(
      'stale_record',
      'The proposed values have changed since you were asked; read the proposal again.',
    );
  if (assignment.status !== 'pending' || instance.endedAt !== null) throw alreadyDecided(assignment);
  const version = await work.data.get(workflowVersion, instance.versionId);
  const states = askedStatesOf(instance);
  const [action] = askingActionsOf(version.document as DefinitionDocument, [assignment.actionKey]);
  if (!action) throw new Error(`version ${version.id} has no action ${assignment.actionKey}`);
  const round = await assignmentsOf(work, locked);
  const asked = round.filter(({ actionKey }) => actionKey === action.key);
  const passed = passedDeadlines([action], states, work.unit.clock.now());
  const { outcome } = outcomeOf([action], asked, passed);
  if (outcome === 'satisfied' || outcome === 'rejected') throw alreadyDecided(assignment);
  return { assignment, locked, action, asked };
}

/** The error for an assignment that the caller may not answer. It is the same for one that does not exist. */
export function notAsked(id: string): AppError {
  return new AppError(
    'not_found',
    `There is no WorkflowAssignment "${id}" that you may answer or hand over: the person who is asked answers it, and owners and admins can reassign it. GET /v1/workflow-assignments/mine lists those that ask you.`,
  );
}

function alreadyDecided({ status }: Assignment): AppError {
  const reason =
    status === 'pending' || status === 'cancelled' ? 'The decision was taken without it.' : `It is ${status}.`;
  return new AppError('already_decided', `This assignment waits for no decision any more. ${reason}`);
}
