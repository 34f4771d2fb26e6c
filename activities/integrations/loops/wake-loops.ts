import { wantedLoops } from '../../clients/integrations/wanted-loops.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import type { integration } from '#entities/integrations/integration.ts';
import { noteSync } from '#entities/integrations/sync-time-rows.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';

/**
 * Begins the loops of a connected integration, and lets those that rest begin their next round. For sweeps: a listener does the same after
 * each change of the integration.
 */
export async function wakeLoops(unit: UnitOfWork, row: RowOf<typeof integration>): Promise<void> {
  const { id: integrationId, organizationId } = row;
  const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: integrationId };
  const wakes = wantedLoops(row).map((operation) =>
    wakeOf(reconcileIntegrationContract, { integrationId, operation, organizationId }, search),
  );
  if (wakes.length === 0) return;
  await noteSync(unit, integrationId, { lastSyncAt: null, nextSyncAt: unit.clock.now(), isSole: true });
  await keepWakes(unit, wakes, { unlessKept: true });
}
