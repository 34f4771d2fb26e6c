import { Type } from 'typebox';
import { mebibyte } from '../kit/base/mebibyte.ts';
import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { text, timestamp } from '../kit/model/fields.ts';
import { internalKind } from '../presets/internal-kind.ts';

/** Written by receivers (defineReceiver), so the second copy of an event has no effect. */
export const webhookEvent = defineEntityModule({
  kind: 'webhookEvent',
  table: 'webhook_events',
  description:
    'Event that another system has sent to this server. Events that arrive twice are stored once. They are removed after 90 days, and those of an integration webhook soon after its deletion.',
  fields: {
    provider: text('Name of the provider.', {
      max: 64,
      pattern: /^[a-z][a-z0-9_-]*$/,
      immutable: true,
      lists: ['filter'],
    }),
    externalId: text('Id of the event at the provider.', { max: 200, immutable: true }),
    type: text('Type of the event, as the provider names it.', { max: 200, immutable: true, lists: ['filter'] }),
    apiVersion: text('Version of the interface of the provider in which the event is written.', {
      max: 64,
      optional: true,
      immutable: true,
    }),
    occurredAt: timestamp('When it happened, by the clock of the provider.', { optional: true, immutable: true }),
    document: text('Body of the event as it arrived, a JSON document, for listeners that need all of it.', {
      max: mebibyte,
      lines: true,
      optional: true,
      immutable: true,
    }),
    problem: text('Why it had no effect, for operators; null if it had one, or needs none.', {
      max: 500,
      optional: true,
    }),
  },
  unique: [{ fields: ['provider', 'externalId'], message: 'This event was received already.' }],
  ...internalKind('the provider sends it, and what it is about decides which organization it concerns'),
  events: [],
  customEvents: {
    received: {
      description: 'An event of another system has arrived for the first time.',
      payload: payload({
        provider: Type.String({ description: 'Name of the system.' }),
        type: Type.String({ description: 'Type of the event, as the system names it.' }),
        occurredAt: Type.String({ description: 'When it happened, by the clock of the system (RFC 3339).' }),
        values: Type.Record(Type.String(), Type.String(), { description: 'Fields of the event, by name.' }),
      }),
    },
  },
});
