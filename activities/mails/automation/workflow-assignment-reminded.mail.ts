import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { defineNotification } from '../define-notification.ts';
import { assignmentLines, assignmentSample, assignmentValues, pageOfAssignment } from './workflow-text.ts';

export const workflowAssignmentReminded = defineNotification(workflowAssignment, 'reminded', {
  listener: 'notify-reminded',
  description: 'the person who is asked to approve or review a change, and has not decided for a while',
  audience: ({ record: { userId, status } }) => (status === 'pending' ? [{ userId }] : []),
  text: {
    title: 'A change still waits for your decision',
    body: assignmentLines,
    many: '{{count}} changes still wait for your decision',
  },
  values: ({ record, unit }) => assignmentValues(unit, record),
  stillApplies: ({ status }) => status === 'pending',
  sample: assignmentSample,
  link: pageOfAssignment,
  unsubscribesFrom: 'reminders of changes that wait for your decision',
});
