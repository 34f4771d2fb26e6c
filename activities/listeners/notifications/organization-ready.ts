import { localNumber } from '#entities/kit/base/localized.ts';
import { organization } from '#entities/organizations/organization.ts';
import { membership } from '#entities/organizations/membership.ts';
import { defineNotification } from './define-notification.ts';

/** Maximum number of owners who are notified. */
const maxOwners = 20;

/** Its first tasks are there. The list in the app is enough: the owner is working in it. */
export const organizationReady = defineNotification(organization, 'ready', {
  listener: 'notify-organization-ready',
  audience: async ({ record, unit }) => {
    const where = { organizationId: { eq: record.id }, role: { eq: 'owner' } } as const;
    const owners = await unit.data.find(membership, { where, limit: maxOwners });
    return owners.map(({ userId }) => userId);
  },
  tellsActor: true,
  text: {
    title: 'Your organization is ready',
    body: ['{{name}} has {{tasks}} tasks that suggest what to do first.'],
    many: '{{count}} organizations are ready',
  },
  values:
    ({ record, payload }) =>
    (locale) => ({ name: record.displayName ?? record.name, tasks: localNumber(payload.tasks, locale) }),
  sample: { name: 'Example Compliance', tasks: '4' },
  link: () => '/',
  channels: [],
});
