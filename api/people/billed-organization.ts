import { offeredTo, type Catalogue } from '#entities/billing/catalogue/catalogue.ts';
import { selectedCatalogue } from '#entities/billing/catalogue/selected-catalogue.ts';
import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { organizationSubscription } from '#entities/billing/organization-subscription.ts';
import { billingDisabled, paymentUnavailable } from '#entities/billing/payment-errors.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { Role } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { organizationModule } from '#entities/organizations/organization-module.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { Asking } from '../credentials/asking.ts';

export type Billing = RowOf<typeof organizationBilling>;
type Subscription = RowOf<typeof organizationSubscription>;

/** Most subscriptions of one organization, ended ones included. */
const maxSubscriptions = 1_000;

/** Most modules of one organization: each from each source. */
const maxModules = 500;

/** Roles that decide what the organization pays. */
const payingRoles: ReadonlySet<Role | null> = new Set(['owner', 'super_admin']);

/**
 * The billing of the current organization.
 * @param to managers view it; owners change it
 * @throws AppError billing_disabled, permission_denied; rule_violated for organizations that pay nothing themselves
 */
export async function billingOf({ unit, services }: Asking, to: 'view' | 'change'): Promise<Billing> {
  if (!services.config.current.subscription.enabled) throw billingDisabled();
  const { kind, organizationId, role } = unit.context.caller;
  if (kind !== 'user' || organizationId === null || !isManager(role) || (to === 'change' && !payingRoles.has(role)))
    throw new AppError(
      'permission_denied',
      to === 'view'
        ? 'Only managers of the current organization see what it pays.'
        : 'Only owners and super administrators of the current organization decide what it pays.',
    );
  const held = await unit.data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
  if (held) return held;
  throw new AppError(
    'rule_violated',
    'This organization has no plan of its own: it is personal, or the organization above it pays. Switch to that one (POST /v1/switch).',
  );
}

/** Products that the current organization can order. */
export async function offersFor({ unit, services }: Asking): Promise<Catalogue> {
  const { organizationId } = unit.context.caller;
  const held = await modulesOf(unit.data, organizationId);
  return offeredTo(
    selectedCatalogue(services.config.current.ormconfig.modules),
    held.map(({ module }) => module),
  );
}

export function modulesOf(
  data: DataClient,
  organizationId: string | null,
): Promise<RowOf<typeof organizationModule>[]> {
  return data.find(organizationModule, {
    where: { organizationId: { eq: organizationId } },
    orderBy: [
      { field: 'module', direction: 'asc' },
      { field: 'source', direction: 'asc' },
    ],
    limit: maxModules,
  });
}

export function subscriptionsOf(data: DataClient, organizationId: string): Promise<Subscription[]> {
  return data.find(organizationSubscription, {
    where: { organizationId: { eq: organizationId } },
    orderBy: [{ field: 'id', direction: 'desc' }],
    limit: maxSubscriptions,
  });
}

/**
 * The customer of an organization at the payment provider. An organization that has none yet gets one.
 * @returns null until then
 */
export function customerOf({ unit }: Pick<Asking, 'unit'>, billing: Billing): string | null {
  if (billing.customerId === null)
    unit.emit(customEvent(organizationBilling, 'requested', billing, { change: 'customer' }));
  return billing.customerId;
}

/** @throws AppError payment_unavailable while there is no customer */
export function existingCustomer(customerId: string | null): string {
  if (customerId !== null) return customerId;
  throw paymentUnavailable('The organization is being set up at the payment provider; try again in a moment.');
}

/** The page to which the payment provider returns the browser after a change. @param config `subscription` */
export function returnUrlOf({
  paymentbillingportalsuccessurl: page,
}: {
  readonly paymentbillingportalsuccessurl: string;
}): string {
  const url = new URL(page);
  url.searchParams.set('paymentupdate', 'complete');
  return url.href;
}
