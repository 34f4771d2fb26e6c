import { newId } from '#entities/kit/base/ids.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { addMessage } from '#entities/webhooks/webhook-message-rows.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { lockedEnabledEndpoint } from '../../webhooks/change-endpoint.ts';
import { defineAction } from '../kit/define-action.ts';

/** The type of messages that are sent to try an endpoint. */
const testTopic = `${webhookEndpoint.topic}.tested`;

const uses = 10;

export const testWebhookEndpoint = defineAction({
  name: 'testWebhookEndpoint',
  url: '/v1/webhook-endpoints/:id/test',
  tag: 'Webhook endpoints',
  summary: 'Send a test message to an endpoint',
  description: `Sends a message of the type ${testTopic}, in the same way as all others: ${uses} a minute at most.`,
  acceptsSingleSignOn: true,
  limits: [{ per: 'record', uses, windowMs: 60_000, exceeded: 'Too many test messages were sent to this endpoint' }],
  input: { id: idSchema('Id of the endpoint.') },
  answer: { eventId: idSchema('Id of the message (webhook-id).') },
  status: 202,
  errors: ['not_found', 'permission_denied'],
  run: async (asking, { id }) => {
    const { unit, services } = asking;
    const endpoint = await lockedEnabledEndpoint(asking, id);
    const eventId = newId();
    const { id: endpointId, organizationId, recordVersion } = endpoint;
    const { topic: entityKind } = webhookEndpoint;
    await addMessage(unit, {
      endpointId,
      organizationId,
      recordVersion,
      eventId,
      entityKind,
      entityId: endpointId,
      topic: testTopic,
    });
    unit.afterCommit(services.wakeRelays);
    return { eventId };
  },
});
