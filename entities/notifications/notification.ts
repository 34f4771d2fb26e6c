import { defineEntityModule } from '../kit/model/define.ts';
import { choice, flag, json, member, text, timestamp } from '../kit/model/fields.ts';
import { aboutHidden, allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { recordOf } from '../kit/model/composed/record-of.ts';

/** Written by listeners, one for each event and recipient. Nobody deletes one: what deletes the record that it is about hides it. */
export const notification = defineEntityModule({
  kind: 'notification',
  table: 'notifications',
  description:
    'Notification of a person in an organization. Only its recipient views it, and only while they may view the record that it is about.',
  fields: {
    userId: member('Recipient.', { immutable: true, onLeave: 'keep', reverse: 'notifications', exposed: 'read' }),
    shownTo: text('Id of the recipient; null when they have muted such notifications in the app.', {
      max: 26,
      optional: true,
      immutable: true,
    }),
    type: choice(
      'Whether it concerns its recipient personally (user), or all managers of the organization (organization).',
      ['user', 'organization'],
      { default: 'user', immutable: true, exposed: 'read', lists: ['filter'] },
    ),
    topic: text('Topic of the event, for example task.assigned.', {
      max: 100,
      pattern: /^[a-z_]+(\.[a-z_]+)+$/,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
    title: text('Summary of the event, in one line.', { max: 200, lines: true, immutable: true, exposed: 'read' }),
    body: text('Further text, for example the title of the record.', {
      max: 2_000,
      lines: true,
      optional: true,
      immutable: true,
      exposed: 'read',
    }),
    ...recordOf(
      'target',
      'Id of the record that it is about, for a link; `node(id)` reads the record.',
      [
        'task',
        'note',
        'webhookEndpoint',
        'export',
        'organization',
        'group',
        'integration',
        'workflowDefinition',
        'workflowInstance',
        'workflowAssignment',
      ],
      { exposed: 'read', lists: ['filter'] },
    ),
    link: text('Page of the record in the application: a path, which begins with a slash.', {
      max: 200,
      default: '/',
      immutable: true,
      exposed: 'read',
    }),
    isRead: flag('Whether the recipient has read it.', { default: false, exposed: 'read-write', lists: ['filter'] }),
    readAt: timestamp('When the recipient read it; null until then.', { optional: true, exposed: 'read' }),
    variables: json('Values of the variables of its text, for templates; null for one without.', {
      maxBytes: 20_000,
      optional: true,
      immutable: true,
    }),
    eventId: text('Id of the event that it reports.', { max: 26, immutable: true }),
  },
  unique: [{ fields: ['eventId', 'userId'], message: 'The person is notified of this event already.' }],
  indexes: [['organizationId', 'shownTo', 'isRead']],
  tenancy: 'organization',
  policy: {
    view: [allow(system), deny(aboutHidden('targetId')), allow(self('shownTo')), deny(anyone)],
    create: [allow(system)],
    edit: [allow(system), allow(self('shownTo'))],
    remove: [allow(system)],
  },
  mutate: ['update'],
  events: ['created'],
  hooks: {
    derivedValues: ({ isRead }, { at, operation }) =>
      operation === 'create' || isRead === undefined ? {} : { readAt: isRead ? at : null },
  },
});
