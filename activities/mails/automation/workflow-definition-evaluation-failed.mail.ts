import { workflowDefinition } from '#entities/automation/workflow-definition.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

export const workflowDefinitionEvaluationFailed = defineNotification(workflowDefinition, 'evaluation_failed', {
  listener: 'notify-evaluation-failed',
  description: 'the person who has published a definition: an expression of it has failed',
  audience: peopleOfPayload,
  tellsActor: true,
  text: {
    title: 'An expression of a workflow that you have published has failed',
    body: ['{{workflow}}, version {{number}}', '{{message}}', 'The change has started nothing.'],
    many: 'Expressions of workflows that you have published have failed {{count}} times',
  },
  values: ({ record: { name }, event: { payload } }) => {
    const values = { workflow: name, number: String(payload.number), message: payload.message };
    return () => values;
  },
  sample: { workflow: 'Completed tasks', number: '3', message: 'No such key: severity.' },
  link: ({ id }) => `/workflow-definitions/${id}`,
  unsubscribesFrom: 'expressions of your workflows that have failed',
});
