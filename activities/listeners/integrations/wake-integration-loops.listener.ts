import { definitionOf } from '../../clients/integrations/definitions.ts';
import { loopedOperations } from '../../clients/integrations/wanted-loops.ts';
import { integration } from '#entities/integrations/integration.ts';
import { on } from '#entities/kit/model/events.ts';
import { reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { defineListener } from '../listener.ts';

/** Fields that say whether and what an integration brings in. */
const deciding = new Set(['status', 'userInput']);

/** Begins the loops of an integration that is connected, and lets them look at it again when it changes: those that it does not want end. */
export const wakeIntegrationLoops = defineListener(
  'wake-integration-loops',
  [on(integration, 'updated')],
  async ({ event: { entityId, payload }, unit, wake }) => {
    if (!payload.changed.some((name) => deciding.has(name))) return;
    const row = await unit.data.findOne(integration, { id: { eq: entityId } });
    if (!row || (row.status !== 'connected' && row.connectedAt === null)) return;
    const { id: integrationId, organizationId } = row;
    for (const { name: operation } of loopedOperations(definitionOf(row.definitionId)))
      wake(reconcileIntegrationContract, { integrationId, operation, organizationId });
  },
);
