import { customEvent } from '../../kit/write/custom-events.ts';
import { workflowAssignment } from '../workflow-assignment.ts';
import type { ApprovalWork, Assignment, LockedInstance } from './approval-work.ts';
import type { AskingAction } from './asking-action.ts';
import { journalAll } from './journal.ts';
import type { Asked } from '../outcome.ts';

/** Most assignments of one round: each action asks a few hundred people at most. */
const maxAssignments = 5_000;

const maxChangedAtOnce = 1_000;

/** The assignments of the current round. */
export function assignmentsOf({ data }: ApprovalWork, { instance }: LockedInstance): Promise<Assignment[]> {
  return data.find(workflowAssignment, {
    where: { instanceId: { eq: instance.id }, round: { eq: instance.round } },
    orderBy: [{ field: 'id', direction: 'asc' }],
    limit: maxAssignments,
  });
}

/** Reason for which a person is asked, and when the decision is due. */
export type AssignmentReason = Pick<Asked, 'source' | 'isAdded' | 'onBehalfOfId'> & { readonly dueAt: Date | null };

/** Asks people in the current round. */
export async function createAssignments(
  work: ApprovalWork,
  { instance, held }: LockedInstance,
  action: AskingAction,
  people: Iterable<string>,
  { source, isAdded, onBehalfOfId, dueAt }: AssignmentReason,
): Promise<Assignment[]> {
  const input = {
    organizationId: instance.organizationId,
    instanceId: instance.id,
    actionKey: action.key,
    round: instance.round,
    role: action.isReview ? ('reviewer' as const) : ('approver' as const),
    label: action.label,
    source,
    isAdded,
    onBehalfOfId,
    isRequired: action.isRequired,
    proposalHash: held?.proposal?.hash ?? null,
    dueAt,
  };
  const creations = [...people]
    .toSorted()
    .map((userId) => ({ module: workflowAssignment, input: { ...input, userId }, path: '' }));
  if (creations.length === 0) return [];
  const created = (await work.data.createAll(creations)) as unknown as Assignment[];
  for (const assignment of created) work.unit.emit(customEvent(workflowAssignment, 'requested', assignment, {}));
  const details = { source, round: instance.round };
  await journalAll(
    work,
    instance,
    'assignment_created',
    created.map(({ userId }) => ({ actionKey: action.key, personId: userId, details })),
  );
  return created;
}

/**
 * Closes assignments of which nobody needs a decision any more, or whose person may not take it. Decisions that they have become void; they
 * are never approved by it.
 */
export async function cancelAssignments(
  work: ApprovalWork,
  { instance }: Pick<LockedInstance, 'instance'>,
  assignments: readonly Assignment[],
  reason: string,
): Promise<void> {
  const open = assignments.filter(({ status }) => status !== 'cancelled');
  for (const [isVoid, group] of Map.groupBy(open, ({ status }) => status !== 'pending')) {
    const ids = group.map(({ id }) => id);
    for (let from = 0; from < ids.length; from += maxChangedAtOnce)
      await work.data.updateAll(workflowAssignment, ids.slice(from, from + maxChangedAtOnce), {
        status: 'cancelled',
        isVoid,
      });
    const entries = group.map(({ actionKey, userId }) => ({
      actionKey,
      personId: userId,
      details: { reason, isVoid },
    }));
    await journalAll(work, instance, 'assignment_cancelled', entries);
  }
}

/** Closes what is open in all rounds. */
export async function cancelPending(
  work: ApprovalWork,
  locked: Pick<LockedInstance, 'instance'>,
  reason: string,
  isOf: (assignment: Assignment) => boolean = () => true,
): Promise<void> {
  const open = await work.data.find(workflowAssignment, {
    where: { instanceId: { eq: locked.instance.id }, status: { eq: 'pending' } },
    orderBy: [{ field: 'id', direction: 'asc' }],
    limit: maxAssignments,
  });
  await cancelAssignments(work, locked, open.filter(isOf), reason);
}
