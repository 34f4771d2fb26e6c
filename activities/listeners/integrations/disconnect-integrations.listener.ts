import { integration } from '#entities/integrations/integration.ts';
import { on } from '#entities/kit/model/events.ts';
import { disconnectIntegrationContract } from '#workflows/integrations/disconnect-integration.contract.ts';
import { defineListener } from '../listener.ts';

/** Lets the workflow disconnect an integration once somebody has asked for it. */
export const disconnectIntegrations = defineListener(
  'disconnect-integrations',
  [on(integration, 'updated')],
  async ({ event: { entityId, organizationId, payload }, unit: { data }, wake }) => {
    if (!payload.changed.includes('status')) return;
    const row = await data.findOne(integration, { id: { eq: entityId } });
    if (row?.status !== 'disconnecting' || organizationId === null) return;
    const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: entityId };
    wake(disconnectIntegrationContract, { integrationId: entityId }, { search });
  },
);
