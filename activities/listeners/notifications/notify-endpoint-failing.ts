import { webhookEndpoint } from '#entities/integrations/webhook-endpoint.ts';
import { membership } from '#entities/organizations/membership.ts';
import { managerRoles } from '#entities/presets/roles.ts';
import { defineListener, on, type Delivery } from '../listener.ts';
import { notify } from './notify.ts';

/** Maximum number of managers of an organization who are told. */
const maxManagers = 100;

const told = {
  failing: 'A webhook endpoint has failed for 24 hours',
  disabled: 'A webhook endpoint was disabled',
} as const;

const whyDisabled = {
  gone: 'It answered that it is gone (status 410).',
  failing: 'All attempts have failed for five days.',
} as const;

const kept = 'Its messages are kept for 30 days and can be sent again.';

/** Tells the managers that an endpoint fails, while there is time to repair it, and that it gets no more messages. */
export const notifyEndpointFailing = defineListener(
  'notify-endpoint-failing',
  [on(webhookEndpoint, 'failing')],
  (delivery) => tell(delivery, told.failing, 'After five days without success it is disabled.'),
);

export const notifyEndpointDisabled = defineListener(
  'notify-endpoint-disabled',
  [on(webhookEndpoint, 'disabled')],
  (delivery) => tell(delivery, told.disabled, `${whyDisabled[delivery.event.payload.reason]} ${kept}`),
);

async function tell(delivery: Delivery<unknown>, title: string, what: string): Promise<void> {
  const { event, unit } = delivery;
  const endpoint = await unit.data.findOne(webhookEndpoint, { id: { eq: event.entityId } });
  if (!endpoint) return;
  const managers = await unit.data.find(membership, { where: { role: { in: [...managerRoles] } }, limit: maxManagers });
  const userIds = managers.map(({ userId }) => userId);
  await notify(delivery, { userIds, module: webhookEndpoint, title, body: `${endpoint.name}: ${what}` });
}
