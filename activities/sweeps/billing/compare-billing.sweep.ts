import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import {
  compareSignalName,
  reconcileEntitlementsContract,
} from '#workflows/billing/reconcile-entitlements.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

/** Its comparisons find what neither an event nor the end of a period has reported. The rows then name the differences. */
export const compareBillingSweep = defineSweep({
  name: 'compareBilling',
  description: 'Compares all organizations with their customers at the payment provider.',
  queue: 'organizations',
  every: 86_400_000,
  settings: ({ subscription }) => ({ isEnabled: subscription.enabled }),
  find: ({ data }, { limit, after: [after = firstId] = [], only }) =>
    data.find(organizationBilling, {
      where: { id: only === undefined ? { gt: after } : { eq: only } },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(organizationBilling, id),
  decide: () => ({ action: 'compare', reason: 'a day has passed' }),
  act: (unit, { organizationId }) =>
    keepWakes(
      unit,
      [
        wakeOf(
          { ...reconcileEntitlementsContract, wakeSignal: compareSignalName },
          { organizationId },
          { OrganizationId: [organizationId] },
        ),
      ],
      { unlessKept: true },
    ),
});
