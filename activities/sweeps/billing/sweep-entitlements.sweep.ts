import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { firstIdAt } from '#entities/kit/base/ids.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { reconcileEntitlementsContract } from '#workflows/billing/reconcile-entitlements.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { followLapse } from '../../billing/follow-lapse.ts';
import { defineSweep } from '../define-sweep.ts';

const firstId = firstIdAt(new Date(0));

/**
 * Trials and periods that ended, and rounds that died, whether or not the provider reported anything. Nobody can pay while billing is off:
 * what a lapse has disabled by then is restored.
 */
export const sweepEntitlementsSweep = defineSweep({
  name: 'sweepEntitlements',
  description:
    'Reads customers of the payment provider whose trial or period has ended. While billing is off, restores what lapses have disabled.',
  queue: 'organizations',
  every: 3_600_000,
  find: ({ data }, { now, config, limit, after: [after = firstId] = [], only }) =>
    data.find(organizationBilling, {
      where: {
        id: only === undefined ? { gt: after } : { eq: only },
        ...(config.subscription.enabled ? { nextCheckAt: { lte: now } } : { isLapsed: { eq: true } }),
      },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit,
    }),
  lock: ({ data }, id) => data.findLocked(organizationBilling, id),
  decide: ({ nextCheckAt, isLapsed }, { now, config }) => {
    if (!config.subscription.enabled)
      return isLapsed ? { action: 'restore', reason: 'billing is off' } : { action: null, reason: 'billing is off' };
    return nextCheckAt !== null && nextCheckAt <= now
      ? { action: 'read', reason: 'something has ended' }
      : { action: null, reason: 'nothing has ended' };
  },
  act: async (unit, { id, organizationId }, action, { now }) => {
    if (action === 'restore') {
      await unit.data.update(organizationBilling, id, { isLapsed: false, reconciledAt: null, nextCheckAt: now });
      await followLapse(unit, organizationId, false);
      return;
    }
    await keepWakes(
      unit,
      [wakeOf(reconcileEntitlementsContract, { organizationId }, { OrganizationId: [organizationId] })],
      {
        unlessKept: true,
      },
    );
  },
});
