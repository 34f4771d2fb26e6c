import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { integration } from '#entities/integrations/integration.ts';
import { integrationsOfLapse } from '#entities/integrations/lapse-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Billing } from './billing-row.ts';

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

/**
 * Integrations and mails follow the lapse of an organization, after it was written. Repeated while it lasts, because
 * integrations may have been created meanwhile.
 */
export async function followState(unit: UnitOfWork, before: Billing, after: Billing): Promise<void> {
  const { organizationId, isLapsed } = after;
  if (isLapsed || before.isLapsed) await followLapse(unit, organizationId, isLapsed);
  // An organization that never had anything loses nothing.
  const isNews = before.reconciledAt !== null || before.trialEndsAt !== null;
  if (isNews && before.isLapsed !== isLapsed)
    unit.emit(customEvent(organizationBilling, isLapsed ? 'lapsed' : 'reactivated', after, {}));
}
