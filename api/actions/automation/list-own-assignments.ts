import { Type } from 'typebox';
import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { personAtWork } from '../../people/workflow-work.ts';
import { instant, listOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Assignments that are listed at once; others follow when these are decided. */
const maxListed = 100;

export const myWorkflowAssignments = defineAction({
  name: 'myWorkflowAssignments',
  operationId: 'listOwnWorkflowAssignments',
  method: 'GET',
  url: '/v1/workflow-assignments/mine',
  tag: 'Workflow assignments',
  summary: 'List what you are asked to decide',
  description: `Up to ${maxListed} assignments in the current organization that wait for a decision of the caller, the newest first.`,
  acceptsSingleSignOn: true,
  answer: listOf(
    Type.Object(
      {
        id: idSchema('Id of the assignment.'),
        label: orNull(Type.String({ description: workflowAssignment.fields.label.description })),
        role: Type.String({ description: workflowAssignment.fields.role.description }),
        actionKey: Type.String({ description: workflowAssignment.fields.actionKey.description }),
        round: Type.Integer({ description: workflowAssignment.fields.round.description }),
        instanceId: idSchema('Id of the workflow that asks.'),
        recordKind: Type.String({ description: workflowInstance.fields.recordKind.description }),
        subjectId: idSchema('Id of the record.'),
        proposalId: orNull(Type.String({ description: workflowInstance.fields.proposalId.description })),
        dueAt: orNull(instant('When the decision is due.')),
        createdAt: instant('When the caller was asked.'),
      },
      { title: 'OwnWorkflowAssignment', description: 'Decision that the caller is asked to take.' },
    ),
  ),
  errors: ['permission_denied', 'workflows_disabled'],
  run: async (asking) => {
    const { work, userId } = personAtWork(asking);
    const { data } = work;
    const { organizationId } = asking.unit.context.caller;
    if (organizationId === null) return [];
    const asked = await data.find(workflowAssignment, {
      where: { organizationId: { eq: organizationId }, userId: { eq: userId }, status: { eq: 'pending' } },
      orderBy: [{ field: 'createdAt', direction: 'desc' }],
      limit: maxListed,
    });
    const ids = [...new Set(asked.map(({ instanceId }) => instanceId))];
    const found = await data.find(workflowInstance, { where: { id: { in: ids } }, limit: maxListed });
    const instances = new Map(found.map((instance) => [instance.id, instance]));
    return asked.flatMap((assignment) => {
      const instance = instances.get(assignment.instanceId);
      if (!instance) return [];
      const { recordKind, subjectId, proposalId } = instance;
      return [{ ...assignment, recordKind, subjectId, proposalId }];
    });
  },
});
