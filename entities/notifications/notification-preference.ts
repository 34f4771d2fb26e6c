import { notifyingDefinitions } from './notifying-definitions.ts';
import { Type } from 'typebox';
import { refusesChanges } from '../kit/model/behaviours/refuses-changes.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { describedKeyword } from '../kit/model/described-schema.ts';
import { choice, flag, member, text, timestamp } from '../kit/model/fields.ts';
import { allow, anyone, deny, self, system } from '../kit/model/policy.ts';
import { noTopic, topicPatterns } from './notification-topics.ts';

const pattern = /^(\*|[a-z_]+\.(\*|[a-z_]+))$/;

const topics = text(
  'Topics to which it applies: one topic such as task.assigned, all of a kind such as task.*, or * for all other topics.',
  { max: 100, pattern, default: '*', immutable: true },
);

const channels = choice(
  'Channel to which it applies. `chat` is the chat that the organization has connected (docs/integrations.md).',
  ['in_app', 'email', 'chat'],
  { immutable: true },
);

const timeOfDay = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;

/** It is read when something is sent, so a change applies from then on. */
export const notificationPreference = defineEntityModule({
  kind: 'notificationPreference',
  table: 'notification_preferences',
  description:
    'Preference of a person for the notifications of an organization on one channel. Of several whose patterns fit, the one with the longest pattern applies.',
  fields: {
    userId: member('Person whose preference it is.', {
      immutable: true,
      onLeave: 'cascade',
      creator: true,
      reverse: 'notificationPreferences',
      exposed: 'read',
    }),
    channel: {
      ...channels,
      schema: { ...channels.schema, examples: ['in_app', 'email'] },
      exposed: 'read-write',
      lists: ['filter'],
    },
    topicPattern: {
      ...topics,
      schema: Type.Refine(
        { ...topics.schema, examples: topicPatterns, [describedKeyword]: { enum: topicPatterns } },
        // Texts of another form are refused for their form.
        (value) => typeof value !== 'string' || !pattern.test(value) || topicPatterns.includes(value),
        (value) => noTopic(String(value)),
      ),
      exposed: 'read-write',
      lists: ['filter'],
    },
    cadence: choice(
      'When notifications are sent: immediately (immediate), collected once a day, a week or a month, or never (mute). The list in the app interrupts nobody, so there every cadence except mute has the effect of immediate.',
      ['immediate', 'daily', 'weekly', 'monthly', 'mute'],
      { default: 'immediate', exposed: 'read-write' },
    ),
    muteUntil: timestamp('No notifications are sent before this time; those held back are sent then.', {
      optional: true,
      exposed: 'read-write',
    }),
    quietHoursStart: {
      ...text(
        'Time of day as HH:MM from which no notifications are sent, in the time zone of the person: that of their settings, otherwise that of the organization.',
        { max: 5, pattern: timeOfDay, optional: true, exposed: 'read-write' },
      ),
      pairedWith: 'quietHoursEnd',
    },
    quietHoursEnd: {
      ...text(
        'Time of day as HH:MM from which notifications are sent again. If it is earlier than the start, it is on the next day.',
        { max: 5, pattern: timeOfDay, optional: true, exposed: 'read-write' },
      ),
      pairedWith: 'quietHoursStart',
    },
    isUnsubscribed: flag(
      'Whether the person has unsubscribed from these notifications with a link. Then none are sent, whatever the cadence; false sends them again.',
      { default: false, exposed: 'read-write' },
    ),
  },
  unique: [
    {
      fields: ['organizationId', 'userId', 'channel', 'topicPattern'],
      names: 'topicPattern',
      message: 'You have a preference for this channel and these topics; change it.',
    },
  ],
  tenancy: 'organization',
  policy: {
    view: [allow(system), allow(self('userId')), deny(anyone)],
    create: [allow(system), allow(self('userId'))],
    edit: [allow(system), allow(self('userId'))],
    remove: [allow(system), allow(self('userId'))],
  },
  behaviours: [
    refusesChanges([
      {
        refuseIf: `given.channel = 'chat' and not exists (select 1 from integrations i
          where i.organization_id = given.organization_id and i.definition_id in (${notifyingDefinitions.map((id) => `'${id}'`).join(', ')})
            and i.status = 'connected' and i.deleted_at is null)`,
        field: 'channel',
        code: 'chat_not_connected',
        message:
          'The organization has no connected chat; choose e-mail or the list in the app, or let a manager connect a chat.',
      },
      {
        on: ['create', 'edit'],
        refuseIf: 'given.quiet_hours_start = given.quiet_hours_end',
        field: 'quietHoursEnd',
        code: 'rule_violated',
        message: 'The quiet hours end when they begin; to receive no notifications at all, set the cadence to mute.',
      },
    ]),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});
