import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { reconcileEntitlementsContract } from '#workflows/billing/reconcile-entitlements.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

/** Trials and periods that ended, and rounds that died, whether or not the provider reported anything. */
export const sweepEntitlementsSweep = defineSweep({
  name: 'sweepEntitlements',
  description: 'Reads customers of the payment provider whose trial or period has ended.',
  queue: 'organizations',
  every: 3_600_000,
  settings: ({ subscription }) => ({ isEnabled: subscription.enabled }),
  find: ({ data }, { now, limit, after: [after = firstId] = [], only }) =>
    data.find(organizationBilling, {
      where: { nextCheckAt: { lte: now }, id: only === undefined ? { gt: after } : { eq: only } },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(organizationBilling, id),
  decide: ({ nextCheckAt }, { now }) =>
    nextCheckAt !== null && nextCheckAt <= now
      ? { action: 'read', reason: 'something has ended' }
      : { action: null, reason: 'nothing has ended' },
  act: (unit, { organizationId }) =>
    keepWakes(unit, [wakeOf(reconcileEntitlementsContract, { organizationId }, { OrganizationId: [organizationId] })], {
      unlessKept: true,
    }),
});
