import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { defineListener, on } from './listener.ts';

/** Gives a new organization its settings. */
export const setUpOrganization = defineListener(
  'set-up-organization',
  [on(organization, 'created')],
  async ({ event, unit }) => {
    // Locked, so that a deletion waits and takes the settings along.
    const found = await unit.data.findLocked(organization, event.entityId);
    // Deleted again before it was set up.
    if (!found) return;
    const held = await unit.data.findOne(membership, { organizationId: { eq: found.id }, role: { eq: 'owner' } });
    const owner = held && (await unit.data.findOne(user, { id: { eq: held.userId } }));
    await unit.data.create(organizationSetting, { organizationId: found.id, billingEmail: owner?.email ?? null });
  },
);
