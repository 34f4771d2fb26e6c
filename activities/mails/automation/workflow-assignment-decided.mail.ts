import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { defineNotification } from '../define-notification.ts';
import { pageOfAssignment, workflowSample, workflowValues } from './workflow-text.ts';

/** Only requests for changes: approvals and rejections are in the notification of the end. */
export const workflowAssignmentDecided = defineNotification(workflowAssignment, 'decided', {
  listener: 'notify-changes-requested',
  description: 'the person who has made a change that waits for approvals: somebody requests other values',
  audience: async ({ record: { instanceId }, event: { payload }, unit }) => {
    if (payload.status !== 'changes_requested') return [];
    const { initiatorId } = await unit.data.get(workflowInstance, instanceId);
    return initiatorId === null ? [] : [{ userId: initiatorId }];
  },
  text: {
    title: '{{actor}} requests changes of what you have submitted',
    body: ['{{note}}', 'Workflow: {{workflow}}, about a record of the kind {{kind}}.'],
    many: 'Changes are requested of {{count}} of your submissions',
  },
  values: async ({ record: { note, instanceId }, actorName, unit }) => {
    const values = await workflowValues(unit, await unit.data.get(workflowInstance, instanceId));
    return () => ({ actor: actorName, note: note ?? '', ...values });
  },
  sample: { actor: 'Ann Example', note: 'Please let it be reviewed first.', ...workflowSample },
  link: pageOfAssignment,
  unsubscribesFrom: 'requests to change what you have submitted',
});
