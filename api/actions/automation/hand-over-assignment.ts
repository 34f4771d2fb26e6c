import { delegate, reassign } from '#entities/automation/approvals/hand-over.ts';
import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { isManager } from '#entities/presets/roles.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { personAtWork } from '../../people/workflow-work.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const common = {
  tag: 'Workflow assignments',
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the assignment.'),
    userId: idSchema('Person who decides: an active member who may view the record and has not made the change.'),
  },
  answer: { workflowAssignment: recordOf(workflowAssignment) },
  status: 201,
  errors: ['not_found', 'permission_denied', 'already_decided', 'stale_record', 'rule_violated', 'workflows_disabled'],
} as const;

export const delegateWorkflowAssignment = defineAction({
  ...common,
  name: 'delegateWorkflowAssignment',
  url: '/v1/workflow-assignments/:id/delegate',
  summary: 'Let somebody else decide in your place, too',
  description:
    'For the person who is asked. The delegate is asked as well; the decisions of both are one. The answer is the assignment of the delegate.',
  run: async (asking, { id: assignmentId, userId: toUserId }) => {
    const { work, userId } = personAtWork(asking);
    return { workflowAssignment: (await delegate(work, { assignmentId, userId, toUserId })).id };
  },
});

export const reassignWorkflowAssignment = defineAction({
  ...common,
  name: 'reassignWorkflowAssignment',
  url: '/v1/workflow-assignments/:id/reassign',
  summary: 'Hand an assignment over to somebody else',
  description:
    'For the person who is asked, and for owners and admins of the organization, unless they have made the change. The person who was asked no longer is. The answer is the assignment of the other person.',
  run: async (asking, { id: assignmentId, userId: toUserId }) => {
    const { work, userId } = personAtWork(asking);
    const by = { userId, isManager: isManager(asking.unit.context.caller.role) };
    return { workflowAssignment: (await reassign(work, { assignmentId, ...by, toUserId })).id };
  },
});
