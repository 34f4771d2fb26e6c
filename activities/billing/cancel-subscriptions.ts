import { organizationBilling } from '#entities/billing/organization-billing.ts';
import type { BilledParty } from '#entities/billing/provider-state.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { PaymentFailure } from '../clients/payment/payment-failure.ts';
import type { PaymentProvider } from '../clients/payment/payment-provider.ts';
import { lockBilling } from './billing-row.ts';
import type { BillingDependencies } from './round-parts.ts';

/**
 * Ends what a deleted organization pays for. A round that is under way writes nothing afterwards, and ends itself what it has begun.
 * @throws PaymentFailure
 */
export async function cancelSubscriptions(
  { database, logger, payment }: BillingDependencies,
  removalId: string,
): Promise<void> {
  const context = workContext(systemCaller('remove organization'), `remove-organization-${removalId}`);
  const billing = await database.transact(context, async (unit) => {
    const removal = await unit.data.get(organizationRemoval, removalId);
    const held = await lockBilling(unit, removal.removedOrganizationId);
    const number = (held?.drawnRound ?? 0) + 1;
    return held && unit.data.update(organizationBilling, held.id, { drawnRound: number, appliedRound: number });
  });
  if (!billing) return;
  const provider = payment();
  const { customerId, organizationId, drawnRound } = billing;
  if (!provider) {
    if (customerId !== null)
      logger.warn(
        { organization_id: organizationId, customer_id: customerId },
        'billing is off (subscription.enabled): the subscriptions of a deleted organization are not cancelled',
      );
    return;
  }
  // Without an id, a round may have created a customer and died before it stored the id.
  const { email = null } = (billing.billedAs ?? {}) as Partial<BilledParty>;
  const created = customerId === null && drawnRound > 1 ? await provider.findCustomers(organizationId, email) : [];
  for (const id of customerId === null ? created : [customerId])
    if (!(await cancelAll(provider, id, organizationId)))
      logger.warn(
        { organization_id: organizationId, customer_id: id },
        'the payment provider has no such customer of a deleted organization: nothing of it was cancelled',
      );
}

/**
 * Ends the subscriptions of a customer, and closes its checkouts, which would become subscriptions. A customer that the provider does not
 * know, or that was created for another organization, stays as it is.
 * @throws PaymentFailure
 * @returns whether the provider has this customer of the organization
 */
export async function cancelAll(
  provider: PaymentProvider,
  customerId: string,
  organizationId: string,
): Promise<boolean> {
  const own = await provider.readCustomer(customerId).catch((error: unknown) => {
    if (error instanceof PaymentFailure && error.reason === 'missing') return undefined;
    throw error;
  });
  if (own?.organizationId !== organizationId) return false;
  await provider.expireCheckouts(customerId);
  // A checkout may have been paid until then.
  const { subscriptions } = await provider.readCustomer(customerId);
  for (const subscription of subscriptions) {
    if (subscription.endedAt !== null) continue;
    await provider.cancelNow(subscription.id);
    failpoint('billing-cancelled');
  }
  return true;
}
