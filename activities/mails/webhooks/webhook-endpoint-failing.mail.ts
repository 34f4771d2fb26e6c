import { localInstant } from '#entities/kit/base/localized.ts';
import { disabledAfterMs, webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { managers } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

/** Notifies the managers that an endpoint fails, while there is time to repair it. */
export const webhookEndpointFailing = defineNotification(webhookEndpoint, 'failing', {
  listener: 'notify-endpoint-failing',
  description: 'the managers of the organization: the endpoint has failed for 24 hours',
  audience: managers,
  text: {
    title: 'The endpoint {{name}} has failed for 24 hours',
    body: ['It is disabled on {{until}}, unless a message reaches it before.'],
    many: '{{count}} endpoints have failed for 24 hours',
  },
  values:
    ({ record, event: { payload } }) =>
    (locale) => ({
      name: record.name,
      until: localInstant(new Date(Date.parse(payload.since) + disabledAfterMs), locale),
    }),
  stillApplies: ({ status }) => status === 'enabled',
  sample: { name: 'Ticket system', until: 'June 5, 2026 at 5:00 PM UTC' },
  link: ({ id }) => `/webhook-endpoints/${id}`,
  unsubscribesFrom: 'endpoints that fail',
  isUrgent: true,
});
