import { actorOf } from '#entities/kit/model/caller.ts';
import { lifecycleOf } from '#entities/organizations/lifecycle.ts';
import { markedOrganizations } from '#entities/organizations/lifecycle-rows.ts';
import { removalsBegun } from '#entities/organizations/organization-removal-rows.ts';
import { organization } from '#entities/organizations/organization.ts';
import { deletionTimeoutMs, deleteWithNotice } from '../../organizations/delete-with-notice.ts';
import { spare } from '../../billing/spare-if-paid.ts';
import { defineSweep } from '../define-sweep.ts';
import { factsOf } from './lifecycle-facts.ts';

/**
 * Deletes as an owner would, oldest mark first: the record of the removal starts the workflow that removes the contents. Organizations that
 * an owner has announced are not among them.
 */
export const deleteOverdueOrganizationsSweep = defineSweep({
  name: 'deleteOverdueOrganizations',
  description: 'Deletes marked organizations that nobody has paid for until their day, and spares those that pay.',
  queue: 'organizations',
  every: 86_400_000,
  settings: ({ integrations: { organizationdelete } }) => ({
    isEnabled: organizationdelete.enabled,
    maxLimited: organizationdelete.maxdeletesperrun,
    actionTimeoutMs: deletionTimeoutMs,
  }),
  find: (unit, { after, ...selection }) =>
    factsOf(unit, selection, (more) => markedOrganizations(unit, { ...more, after })),
  position: ({ markPosition, id }) => [markPosition, id],
  lock: ({ data }, id) => data.findLocked(organization, id, 'remove'),
  decide: (facts, { now, config }) => {
    const decided = lifecycleOf(facts, config.integrations.paymentreminder, now);
    const { action, reason } = decided;
    if (action === 'spare' || action === 'delete') return { action, reason };
    return { action: null, reason: action === 'announce' ? 'it is marked, and its day has not come' : reason };
  },
  act: (unit, facts, action, { now }) =>
    action === 'spare' ? spare(unit, facts, now) : deleteWithNotice(unit, facts.id),
  limited: {
    action: 'delete',
    countSince: (unit, startedAt) => removalsBegun(unit, startedAt, actorOf(unit.context.caller)),
  },
  reports: (startedAt) => ({ message: 'organizations-deleted', since: startedAt }),
});
