import { Type } from 'typebox';
import { guarded } from '../kit/model/behaviours/guarded.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { choice, reference, sealed, singleLine, text, textList, timestamp } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { customData } from '../presets/usual-fields.ts';

/**
 * Created with a secret that the server makes (api/credentials/webhook-secrets.ts). Events arrive at `/v1/integrations/webhook/:endpointID`
 * (api/rest/integrations/integration-webhook.receiver.ts).
 */
export const integrationWebhook = defineEntityModule({
  kind: 'integrationWebhook',
  table: 'integration_webhooks',
  description:
    'Receiver of the events that another system sends for an integration. The system signs them with a secret that is shown once.',
  fields: {
    integrationId: reference('integration', 'Integration whose events are sent.', {
      immutable: true,
      onDelete: 'cascade',
      requires: 'edit',
      reverse: 'webhooks',
      exposed: 'read',
      lists: ['filter'],
    }),
    name: singleLine('Name of the receiver.', { min: 1, max: 120, exposed: 'read-write', lists: ['filter', 'order'] }),
    provider: text('System that sends the events.', { max: 64, optional: true, exposed: 'read-write' }),
    status: choice('Whether events arrive.', ['pending', 'active', 'inactive', 'failed'], {
      default: 'pending',
      exposed: 'read',
      lists: ['filter'],
    }),
    secret: sealed('Secret with which events are signed.', { max: 200 }),
    rotatedAt: timestamp('When the secret was last replaced; null if it never was.', {
      optional: true,
      exposed: 'read',
    }),
    allowedEvents: textList('Types of events that are accepted; empty: all types.', {
      max: 200,
      maxItems: 200,
      exposed: 'read-write',
    }),
    externalId: text('Id of the receiver at the other system.', {
      max: 200,
      optional: true,
      exposed: 'read-write',
      lists: ['filter'],
    }),
    lastEventId: text('Id of the last event that arrived, at the other system.', {
      max: 200,
      optional: true,
      exposed: 'read',
    }),
    lastEventAt: timestamp('When the last event arrived; null if none has.', { optional: true, exposed: 'read' }),
    lastEventStatus: choice('Whether the last event was accepted.', ['accepted', 'refused'], {
      optional: true,
      exposed: 'read',
    }),
    lastEventError: text('Why the last event was refused.', {
      max: 2_000,
      lines: true,
      optional: true,
      exposed: 'read',
    }),
    metadata: customData,
  },
  unique: [
    {
      fields: ['integrationId', 'name'],
      comparedAsName: 'name',
      message: 'The integration has a receiver with this name.',
    },
  ],
  tenancy: 'organization',
  behaviours: [guarded({ needsSession: 'changes' })],
  policy: managedRecord(),
  mutate: ['update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  customEvents: {
    received: {
      description: 'The other system of an integration has sent an event, which arrived for the first time.',
      payload: payload({
        eventId: Type.String({ description: 'Id of the webhook event, which has the whole body for 90 days.' }),
        externalId: Type.String({ description: 'Id of the event at the other system.' }),
        type: Type.String({ description: 'Type of the event, as the other system names it.' }),
        occurredAt: Type.String({ description: 'When it happened, by the clock of the other system (RFC 3339).' }),
      }),
    },
  },
});
