import { defineEntityModule } from '../kit/model/define.ts';
import { text, timestamp } from '../kit/model/fields.ts';
import { internalRecord } from '../presets/internal-record.ts';

/** Written in the transaction that acts on the event, so the second copy of an event has no effect. */
export const webhookEvent = defineEntityModule({
  kind: 'webhookEvent',
  table: 'webhook_events',
  description: 'Event of the payment provider that was acted on.',
  fields: {
    provider: text('Name of the provider.', { max: 64, pattern: /^[a-z][a-z0-9_-]*$/, immutable: true }),
    externalId: text('Id of the event at the provider.', { max: 200, immutable: true }),
    type: text('Type of the event, as the provider names it.', { max: 200, immutable: true }),
    apiVersion: text('Version of the interface of the provider in which the event is written.', {
      max: 64,
      optional: true,
      immutable: true,
    }),
    occurredAt: timestamp('When it happened, by the clock of the provider.', { optional: true, immutable: true }),
  },
  unique: [{ fields: ['provider', 'externalId'], message: 'This event was received already.' }],
  tenancy: { none: 'the provider sends it, and what it is about decides which organization it concerns' },
  policy: internalRecord(),
  expose: {},
  filter: ['provider', 'type'],
  order: ['createdAt'],
  events: [],
});
