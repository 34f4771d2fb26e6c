import { workflowInstance } from '#entities/automation/workflow-instance.ts';
import { task } from '#entities/work/task.ts';
import { organization } from '#entities/organizations/organization.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { pageOfTask } from '../task-text.ts';

export const workflowInstanceMessaged = defineNotification(workflowInstance, 'messaged', {
  listener: 'notify-messaged',
  description: 'people whom a workflow notifies, with the text of its definition',
  audience: peopleOfPayload,
  // The action has left out people who may not view a record of another kind; members see their organization.
  target: ({ record: { recordKind, subjectId, organizationId, trigger } }) =>
    recordKind === task.kind && trigger !== 'delete'
      ? { module: task, id: subjectId }
      : { module: organization, id: organizationId },
  text: { title: '{{title}}', body: ['{{text}}'], many: '{{count}} messages of workflows' },
  values: ({ event: { payload } }) => {
    const values = { title: payload.title, text: payload.body };
    return () => values;
  },
  sample: { title: 'Review the access rights: completed', text: 'The task was completed today.' },
  link: ({ module, id }) => (module.kind === task.kind ? pageOfTask({ id }) : '/'),
  unsubscribesFrom: 'messages of workflows',
});
