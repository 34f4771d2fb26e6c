import { integration } from '#entities/integrations/integration.ts';
import { integrationsOfLapse } from '#entities/integrations/lapse-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Maximum number of integrations that are changed at once. */
const limit = 500;

/**
 * Disables the integrations of a lapsed organization and of those below it, which it covers; or gives those that a lapse has disabled their
 * status back. Integrations that were disabled otherwise stay so.
 * @param unit of the server, in all organizations: that which writes whether the organization has lapsed
 */
export async function followLapse(unit: UnitOfWork, organizationId: string, isLapsed: boolean): Promise<void> {
  let found;
  do {
    found = await integrationsOfLapse(unit, organizationId, { isLapsed, limit });
    for (const [status, concerned] of Map.groupBy(found, (one) => one.status)) {
      const values = isLapsed ? { status: 'disabled', statusBeforeLapse: status } : { status, statusBeforeLapse: null };
      await unit.data.updateAll(
        integration,
        concerned.map(({ id }) => id),
        values,
      );
    }
  } while (found.length === limit);
}
