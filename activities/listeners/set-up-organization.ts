import { organization, organizationSetting, user } from '#entities/index.ts';
import { defineListener } from './listener.ts';

/** Gives a new organization its settings. */
export const setUpOrganization = defineListener({
  name: 'set-up-organization',
  topics: ['organization.created'],
  deliver: async ({ event, unit }) => {
    const found = await unit.data.findOne(organization, { id: { eq: event.entityId } });
    // Deleted again before it was set up.
    if (!found) return;
    const [, creatorId] = /^user:(.+)$/.exec(event.actor) ?? [];
    const creator = creatorId ? await unit.data.findOne(user, { id: { eq: creatorId } }) : undefined;
    await unit.data.create(organizationSetting, { organizationId: found.id, billingEmail: creator?.email ?? null });
  },
});
