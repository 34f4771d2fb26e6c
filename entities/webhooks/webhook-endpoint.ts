import { Type } from 'typebox';
import { automated } from '../kit/behaviours/automated.ts';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, flag, integer, sealed, singleLine, text, textList, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { scopeList } from '../presets/secret-token.ts';

/** Why an endpoint gets no messages: somebody said so; it answered 410; it has failed for days; whoever answers for it has lost rights. */
const disabledReasons = ['by_hand', 'gone', 'failing', 'rights_lost'] as const;

/** Time without success after which the server disables an endpoint, in milliseconds. */
export const disabledAfterMs = 5 * 86_400_000;

const failures = payload({
  since: Type.String({ format: 'date-time', description: 'When the first of these attempts failed.' }),
});

/** Created and changed by api/webhooks/change-endpoint.ts, which checks URL, topics and scopes. Its due messages are in `webhook_messages`. */
export const webhookEndpoint = defineEntityModule({
  kind: 'webhookEndpoint',
  table: 'webhook_endpoints',
  description:
    'URL of a customer to which events of the organization are sent as signed messages (Standard Webhooks). Its secret is shown once.',
  fields: {
    name: singleLine('Name of the endpoint.', { min: 1, max: 120, exposed: 'read', lists: ['filter', 'order'] }),
    description: text('Purpose of the endpoint.', { max: 2_000, lines: true, optional: true, exposed: 'read' }),
    url: text('URL to which messages are sent: https, with a public address.', { max: 2_000, exposed: 'read' }),
    urlChangedAt: timestamp(
      'When the URL was last changed; null if it never was. Messages about earlier events are not sent to the new URL: they are withheld.',
      { optional: true, exposed: 'read' },
    ),
    topics: textList('Types of events that are sent: `task.created`, all of a kind as `task.*`, or all as `*`.', {
      max: 100,
      maxItems: 200,
      exposed: 'read',
    }),
    scopes: scopeList('Kinds of records that the endpoint receives: `<kind>:read` for each.', { exposed: 'read' }),
    ordering: choice('Whether the messages about one record are sent in order, or in parallel.', ['record', 'none'], {
      default: 'record',
      exposed: 'read',
    }),
    maxInFlight: integer('Number of messages that are sent at the same time.', {
      min: 1,
      max: 50,
      default: 5,
      exposed: 'read',
    }),
    maxPerSecond: integer('Number of messages that are sent each second.', {
      min: 1,
      max: 1_000,
      default: 50,
      exposed: 'read',
    }),
    includesRecord: flag('Whether messages contain the record, as far as the endpoint can read it at that attempt.', {
      default: false,
      exposed: 'read',
    }),
    status: choice(
      'Whether messages are sent. Those of a disabled endpoint are kept for 30 days, for replay.',
      ['enabled', 'disabled'],
      { default: 'enabled', exposed: 'read', lists: ['filter'] },
    ),
    disabledReason: choice('Why the endpoint is disabled.', disabledReasons, { optional: true, exposed: 'read' }),
    disabledAt: timestamp('When the endpoint was disabled.', { optional: true, exposed: 'read' }),
    responsibleId: text(
      'Id of the person responsible for the endpoint, who created it, enabled it, or last changed its URL, topics or scopes. When that person no longer manages the organization, or lacks rights that its scopes give, the endpoint is disabled.',
      { max: 26, optional: true, exposed: 'read' },
    ),
    responsibleMembershipId: text(
      'Id of the membership with which that person took this on: it ends with this membership, and no later one restores it.',
      { max: 26, optional: true },
    ),
    secret: sealed('Secret with which messages are signed.', { max: 200 }),
    formerSecret: sealed('Secret before the last rotation.', { max: 200, optional: true }),
    rotatedAt: timestamp(
      'When the secret was last replaced; null if it never was. For 24 hours, messages are signed with the former one as well.',
      { optional: true, exposed: 'read' },
    ),
  },
  unique: [
    {
      fields: ['organizationId', 'name'],
      comparedAsName: 'name',
      message: 'The organization has an endpoint with this name.',
    },
  ],
  tenancy: 'organization',
  behaviours: [
    guarded({ closedToDelegates: 'changes' }),
    // Changes of the others have effects on messages, which a change that is written later would not have.
    automated({ fields: ['name', 'description'] }),
  ],
  policy: managedRecord(),
  mutate: ['delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    failing: { description: 'All attempts to send to an endpoint have failed for 24 hours.', payload: failures },
    disabled: {
      description:
        'The server has disabled an endpoint: it has failed for five days, it has answered with status 410, or the person responsible for it no longer has the rights that it needs.',
      payload: payload({
        reason: Type.Union([Type.Literal('gone'), Type.Literal('failing'), Type.Literal('rights_lost')]),
      }),
    },
  },
});
