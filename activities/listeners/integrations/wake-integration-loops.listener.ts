import { definitionOf } from '../../clients/integrations/definitions.ts';
import { loopedOperations } from '../../clients/integrations/wanted-loops.ts';
import { integration } from '#entities/integrations/integration.ts';
import { on } from '#entities/kit/model/events.ts';
import { loopSignals, reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { defineListener } from '../listener.ts';

/** Fields that say what the loops of an integration bring in, or what follows from it: members of the organization must not follow from what was read a day ago. */
const settings = new Set(['userInput', 'isPrimaryDirectory']);

/**
 * Begins the loops of an integration that is connected, and lets them look at it again when it changes: those that it does not want end. Others
 * whose settings have changed also forget how long they have rested.
 */
export const wakeIntegrationLoops = defineListener(
  'wake-integration-loops',
  [on(integration, 'updated')],
  async ({ event: { entityId, payload }, unit, wake }) => {
    const isConfigured = payload.changed.some((name) => settings.has(name));
    if (!isConfigured && !payload.changed.includes('status')) return;
    const row = await unit.data.findOne(integration, { id: { eq: entityId } });
    if (!row || (row.status !== 'connected' && row.connectedAt === null)) return;
    const { id: integrationId, organizationId } = row;
    for (const { name: operation } of loopedOperations(definitionOf(row.definitionId)))
      wake(
        reconcileIntegrationContract,
        { integrationId, operation, organizationId },
        isConfigured ? { signal: loopSignals.configChanged } : {},
      );
  },
);
