import { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export type Billing = RowOf<typeof organizationBilling>;

/** The billing of an organization, locked until the end of the transaction; undefined without one. */
export async function lockBilling(unit: UnitOfWork, organizationId: string): Promise<Billing | undefined> {
  const found = await unit.data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
  return found && unit.data.findLocked(organizationBilling, found.id);
}

/**
 * Changes the billing of an organization.
 * @param changesOf what to change of the locked row; undefined for nothing
 * @returns the row; undefined when it was removed with its organization
 */
export async function changeBilling(
  unit: UnitOfWork,
  organizationId: string,
  changesOf: (held: Billing) => ChangesOf<typeof organizationBilling> | undefined,
): Promise<Billing | undefined> {
  const held = await lockBilling(unit, organizationId);
  const changes = held && changesOf(held);
  return held && changes ? unit.data.update(organizationBilling, held.id, changes) : held;
}
