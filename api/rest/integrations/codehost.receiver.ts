import { Type } from 'typebox';
import { codeHostEvents, codeHostSource } from '#activities/clients/integrations/codehostapp/code-host-events.ts';
import { hasEventSignature } from '#activities/clients/integrations/codehostapp/event-signature.ts';
import { configuredSender } from '../webhooks/configured-sender.ts';
import { defineReceiver, filledText } from '../webhooks/define-receiver.ts';

const deliveryIdPattern = /^[\w-]{1,100}$/;

/**
 * Only event, action and installation of what the code host sends are used: what its organization has now is read afterwards. The id of a
 * delivery is outside the signature, so an event that somebody has recorded has its effect again, which changes nothing twice.
 */
export const codeHostReceiver = defineReceiver({
  url: '/v1/codehost/app/webhook',
  operationId: 'receiveCodeHostEvents',
  summary: 'Events of the app at the code host',
  description:
    'For the code host, which reports that the app was uninstalled or suspended, or that members or teams of an organization have changed. Events of an installation that no integration has are answered with 200 and have no effect.',
  senders: configuredSender(codeHostSource, ({ integrations }) => integrations.codehostapp.webhooksecret),
  verify: ({ headers, body }, secret) => hasEventSignature(body, headers['x-hub-signature-256'], secret),
  payload: Type.Object({
    action: filledText,
    installation: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
  }),
  read: ({ action, installation }, { headers }, _config, now) => {
    const { 'x-github-delivery': externalId, 'x-github-event': event } = headers;
    const type = `${typeof event === 'string' ? event : ''}.${action}`;
    if (typeof externalId !== 'string' || !deliveryIdPattern.test(externalId) || !codeHostEvents.has(type))
      return undefined;
    // The code host does not say when it happened.
    return { externalId, type, occurredAt: now, values: { installationId: String(installation.id) } };
  },
});
