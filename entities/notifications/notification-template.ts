import { Type } from 'typebox';
import { textVariables } from '../kit/behaviours/text-variables.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { describedKeyword } from '../kit/model/described-schema.ts';
import { choice, text } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { noTopic, notificationTopics, notificationVariables } from './notification-topics.ts';

const form = /^[a-z_]+\.[a-z_]+$/;

const topic = text('Event that it is about: a topic of notifications such as task.assigned.', {
  max: 100,
  pattern: form,
  immutable: true,
});

const variables = 'with variables as {{name}}: those of the topic';

/** It is read when an e-mail is made, so a change applies from then on, and without it the text of the product applies. */
export const notificationTemplate = defineEntityModule({
  kind: 'notificationTemplate',
  table: 'notification_templates',
  description:
    'Text that an organization uses in its e-mails about an event instead of the text of the product. It is plain text: markup is shown as it is written, and links and addresses are broken up so that mail programs do not link them.',
  fields: {
    topic: {
      ...topic,
      schema: Type.Refine(
        { ...topic.schema, examples: notificationTopics, [describedKeyword]: { enum: notificationTopics } },
        // Texts of another form are refused for their form.
        (value) => typeof value !== 'string' || !form.test(value) || notificationTopics.includes(value),
        (value) => noTopic(String(value)),
      ),
      exposed: 'read-write',
      lists: ['filter', 'order'],
    },
    channel: choice('Channel whose messages it is for.', ['email'], {
      default: 'email',
      immutable: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    subjectTemplate: text(`Subject, ${variables}.`, { max: 200, exposed: 'read-write' }),
    bodyTemplate: text(`Text above the button, ${variables}. Each line is a paragraph.`, {
      max: 5_000,
      lines: true,
      exposed: 'read-write',
    }),
  },
  behaviours: [
    textVariables({ texts: ['subjectTemplate', 'bodyTemplate'], by: 'topic', known: notificationVariables }),
  ],
  unique: [
    {
      fields: ['organizationId', 'channel', 'topic'],
      names: 'topic',
      message: 'The organization has a template for this topic; change it.',
    },
  ],
  tenancy: 'organization',
  policy: managedRecord(),
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
