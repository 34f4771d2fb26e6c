import { webhookEndpoint } from '#entities/integrations/webhook-endpoint.ts';
import { membership } from '#entities/organizations/membership.ts';
import { managerRoles } from '#entities/presets/roles.ts';
import { defineNotification, type Told } from './define-notification.ts';

/** Maximum number of managers of an organization who are told. */
const maxManagers = 100;

const whyDisabled = {
  gone: 'It answered that it is gone (status 410).',
  failing: 'All attempts have failed for five days.',
  rights_lost: 'Whoever answered for it has lost the rights that it needs. Enable it to answer for it yourself.',
} as const;

const link = ({ id }: { readonly id: string }) => `/webhook-endpoints/${id}`;

/** Tells the managers that an endpoint fails, while there is time to repair it. */
export const endpointFailing = defineNotification(webhookEndpoint, 'failing', {
  listener: 'notify-endpoint-failing',
  audience: managersOf,
  text: {
    title: 'A webhook endpoint has failed for 24 hours',
    body: '{{name}}: After five days without success it is disabled.',
  },
  values: ({ record }) => ({ name: record.name }),
  sample: { name: 'Ticket system' },
  link,
  channels: ['email'],
  isUrgent: true,
});

/** Tells them that it gets no more messages. */
export const endpointDisabled = defineNotification(webhookEndpoint, 'disabled', {
  listener: 'notify-endpoint-disabled',
  audience: managersOf,
  text: {
    title: 'A webhook endpoint was disabled',
    body: '{{name}}: {{reason}} Its messages are kept for 30 days and can be sent again.',
  },
  values: ({ record, payload }) => ({ name: record.name, reason: whyDisabled[payload.reason] }),
  sample: { name: 'Ticket system', reason: whyDisabled.failing },
  link,
  channels: ['email'],
  isUrgent: true,
});

async function managersOf({ unit }: Pick<Told, 'unit'>): Promise<string[]> {
  const managers = await unit.data.find(membership, { where: { role: { in: [...managerRoles] } }, limit: maxManagers });
  return managers.map(({ userId }) => userId);
}
