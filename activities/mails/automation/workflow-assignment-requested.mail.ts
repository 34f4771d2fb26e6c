import { workflowAssignment } from '#entities/automation/workflow-assignment.ts';
import { defineNotification } from '../define-notification.ts';
import { assignmentLines, assignmentSample, assignmentValues, pageOfAssignment } from './workflow-text.ts';

export const workflowAssignmentRequested = defineNotification(workflowAssignment, 'requested', {
  listener: 'notify-asked',
  description: 'the person who is asked to approve or review a change',
  audience: ({ record: { userId, status } }) => (status === 'pending' ? [{ userId }] : []),
  text: {
    title: 'You are asked to decide about a change',
    body: assignmentLines,
    many: '{{count}} changes wait for your decision',
  },
  values: ({ record, unit }) => assignmentValues(unit, record),
  stillApplies: ({ status }) => status === 'pending',
  sample: assignmentSample,
  link: pageOfAssignment,
  unsubscribesFrom: 'changes that wait for your decision',
});
