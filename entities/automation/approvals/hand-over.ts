import { AppError } from '../../kit/base/errors.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import { workflowInstance } from '../workflow-instance.ts';
import type { ApprovalWork, Assignment } from './approval-work.ts';
import { cancelAssignments, createAssignments } from './assignments.ts';
import { notAsked, openAssignment, type OpenAssignment } from './decide.ts';
import { authorsOf, eligibleOf, whoCounts } from './who-counts.ts';

/** A person who lets somebody else decide. */
export interface HandOver {
  readonly assignmentId: string;
  /** Person who asks for it. */
  readonly userId: string;
  /** Whether that person manages the organization, and may hand over what others are asked. */
  readonly isManager?: boolean;
  readonly toUserId: string;
}

/**
 * Adds a person who may decide in the place of the one who is asked: both together are one decision.
 * @throws AppError not_found, already_decided, stale_record; rule_violated for a person who may not decide
 */
export async function delegate(work: ApprovalWork, given: HandOver): Promise<Assignment> {
  const open = await openAssignment(work, given.assignmentId, ({ userId }) => userId === given.userId);
  const { assignment } = open;
  const onBehalfOfId = assignment.onBehalfOfId ?? assignment.userId;
  const created = await askInstead(work, open, given, 'delegated', onBehalfOfId);
  work.unit.emit(customEvent(workflowInstance, 'delegated', open.locked.instance, { assignmentId: created.id }));
  return created;
}

/**
 * Hands an assignment over to another person; the person who was asked, and their delegates, may not decide it any more.
 * @throws AppError not_found, already_decided, stale_record; rule_violated for a person who may not decide
 */
export async function reassign(work: ApprovalWork, given: HandOver): Promise<Assignment> {
  const isReached = ({ userId }: Assignment) => userId === given.userId || given.isManager === true;
  const open = await openAssignment(work, given.assignmentId, isReached);
  const { assignment, locked, asked } = open;
  if ((await authorsOf(work, locked)).has(given.userId))
    throw new AppError('rule_violated', 'You have made the change, so you do not choose who decides about it.');
  const former = asked.filter(({ id, onBehalfOfId }) => id === assignment.id || onBehalfOfId === assignment.userId);
  const created = await askInstead(work, open, given, 'reassigned', assignment.onBehalfOfId);
  await cancelAssignments(work, locked, former, 'It was handed over to somebody else.');
  work.unit.emit(customEvent(workflowInstance, 'reassigned', locked.instance, { assignmentId: created.id }));
  return created;
}

async function askInstead(
  work: ApprovalWork,
  { assignment, locked, action, asked }: OpenAssignment,
  { userId, isManager = false, toUserId }: HandOver,
  source: 'delegated' | 'reassigned',
  onBehalfOfId: string | null,
): Promise<Assignment> {
  if (!isManager && !(await whoCounts(work, locked, action, asked)).has(userId)) throw notAsked(assignment.id);
  if (!(await eligibleOf(work, locked, [toUserId])).has(toUserId))
    throw new AppError(
      'rule_violated',
      'This person cannot decide: choose an active member who may view the record and has not made the change.',
    );
  if (asked.some(({ userId, status }) => userId === toUserId && status !== 'cancelled'))
    throw new AppError('rule_violated', 'This person is asked already.');
  const { isAdded, dueAt } = assignment;
  const asking = { source, isAdded, onBehalfOfId, dueAt };
  const [created] = await createAssignments(work, locked, action, [toUserId], asking);
  return created as Assignment;
}
