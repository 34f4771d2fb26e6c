import { disabledAfterMs, webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { membership } from '#entities/organizations/membership.ts';
import { managerRoles } from '#entities/presets/roles.ts';
import { defineNotification, type NotificationContext } from './define-notification.ts';

/** Maximum number of managers of an organization who are notified. */
const maxManagers = 100;

const whyDisabled = {
  gone: 'It answered that it is gone (status 410).',
  failing: 'All attempts have failed for five days.',
  rights_lost: 'The person responsible for it has lost the rights that it needs. To take over, enable it.',
} as const;

const link = ({ id }: { readonly id: string }) => `/webhook-endpoints/${id}`;

/** Notifies the managers that an endpoint fails, while there is time to repair it. */
export const endpointFailing = defineNotification(webhookEndpoint, 'failing', {
  listener: 'notify-endpoint-failing',
  audience: managersOf,
  text: {
    title: 'The endpoint {{name}} has failed for 24 hours',
    body: ['It is disabled on {{until}}, unless a message reaches it before.'],
    many: '{{count}} endpoints have failed for 24 hours',
  },
  values:
    ({ record, payload }) =>
    (locale) => ({
      name: record.name,
      until: localInstant(new Date(Date.parse(payload.since) + disabledAfterMs), locale),
    }),
  stillApplies: ({ status }) => status === 'enabled',
  sample: { name: 'Ticket system', until: 'June 5, 2026 at 5:00 PM UTC' },
  link,
  channels: ['email'],
  isUrgent: true,
});

/** Notifies them that it gets no more messages. */
export const endpointDisabled = defineNotification(webhookEndpoint, 'disabled', {
  listener: 'notify-endpoint-disabled',
  audience: managersOf,
  text: {
    title: 'The endpoint {{name}} was disabled',
    body: ['{{reason}}', 'Its messages are kept for 30 days and can be sent again.'],
    many: '{{count}} endpoints were disabled',
  },
  values: ({ record, payload }) => {
    const values = { name: record.name, reason: whyDisabled[payload.reason] };
    return () => values;
  },
  sample: { name: 'Ticket system', reason: whyDisabled.failing },
  link,
  channels: ['email'],
  isUrgent: true,
});

async function managersOf({ unit }: Pick<NotificationContext, 'unit'>): Promise<string[]> {
  const managers = await unit.data.find(membership, { where: { role: { in: [...managerRoles] } }, limit: maxManagers });
  return managers.map(({ userId }) => userId);
}
