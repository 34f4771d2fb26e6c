import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { managers } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { pageOfInstance, workflowSample, workflowValues } from './workflow-text.ts';

export const workflowInstanceUnattended = defineNotification(workflowInstance, 'unattended', {
  listener: 'notify-unattended',
  description: 'the owners and admins: a change waits, and nobody may decide about it',
  audience: managers,
  text: {
    title: 'Nobody can decide about a change that waits',
    body: [
      'Workflow: {{workflow}}, about a record of the kind {{kind}}.',
      'No person whom the workflow names may decide. Give somebody the right to, or cancel the workflow.',
    ],
    many: 'Nobody can decide about {{count}} changes that wait',
  },
  values: async ({ record, unit }) => {
    const values = await workflowValues(unit, record);
    return () => values;
  },
  stillApplies: ({ endedAt }) => endedAt === null,
  sample: workflowSample,
  link: pageOfInstance,
  unsubscribesFrom: 'changes about which nobody can decide',
});
