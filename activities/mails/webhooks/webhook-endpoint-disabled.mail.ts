import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { managers } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

const whyDisabled = {
  gone: 'It answered that it is gone (status 410).',
  failing: 'All attempts have failed for five days.',
  rights_lost: 'The person responsible for it has lost the rights that it needs. To take over, enable it.',
} as const;

/** Notifies the managers that an endpoint gets no more messages. */
export const webhookEndpointDisabled = defineNotification(webhookEndpoint, 'disabled', {
  listener: 'notify-endpoint-disabled',
  description: 'the managers of the organization: the endpoint gets no more messages',
  audience: managers,
  text: {
    title: 'The endpoint {{name}} was disabled',
    body: ['{{reason}}', 'Its messages are kept for 30 days and can be sent again.'],
    many: '{{count}} endpoints were disabled',
  },
  values: ({ record, event: { payload } }) => {
    const values = { name: record.name, reason: whyDisabled[payload.reason] };
    return () => values;
  },
  sample: { name: 'Ticket system', reason: whyDisabled.failing },
  link: ({ id }) => `/webhook-endpoints/${id}`,
  unsubscribesFrom: 'endpoints that were disabled',
  isUrgent: true,
});
