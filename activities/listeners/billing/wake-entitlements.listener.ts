import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { on } from '#entities/kit/model/events.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { reconcileEntitlementsContract } from '#workflows/billing/reconcile-entitlements.contract.ts';
import { defineListener, type Listener } from '../listener.ts';

/** Fields of an organization and its settings that invoices name. */
const billed = /^(?:name|displayName|billing.+|taxId)$/;

/**
 * Has the customer of an organization read after an event of the provider, on request, and when the organization is new or has changed
 * what invoices name. The stored customer decides which organization an event is about; an event about another
 * customer has no effect but a line for operators.
 */
export const wakeEntitlements: Listener = {
  ...defineListener(
    'wake-entitlements',
    [
      on(webhookEvent, 'received'),
      on(organizationBilling, 'requested'),
      on(organization, 'created'),
      on(organization, 'updated'),
      on(organizationSetting, 'updated'),
    ],
    async ({ event: { topic, entityId, organizationId, payload }, unit: { data }, wake }) => {
      const isOfProvider = 'provider' in payload;
      if (isOfProvider && payload.provider !== 'payment') return;
      const isOther = 'changed' in payload && !payload.changed.some((name) => billed.test(name));
      if (isOther && topic !== 'organization.created') return;
      const billing = await data.findOne(
        organizationBilling,
        isOfProvider
          ? { customerId: { eq: payload.values['customer'] ?? '' } }
          : { organizationId: { eq: organizationId ?? entityId } },
      );
      if (billing) wake(reconcileEntitlementsContract, { organizationId: billing.organizationId });
      else if (isOfProvider) {
        const problem = `No organization has the customer ${payload.values['customer'] ?? ''}.`;
        await data.update(webhookEvent, entityId, { problem });
      }
    },
  ),
  isWanted: ({ hasBilling }) => hasBilling,
};
