import { organization } from '#entities/organizations/organization.ts';
import { managers } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

export const organizationSpared = defineNotification(organization, 'spared', {
  listener: 'notify-spared-organization',
  description: 'the people who manage an organization: it is not deleted',
  audience: managers,
  tellsActor: true,
  text: {
    title: 'An organization is not deleted',
    body: ['{{name}} is no longer marked for deletion.'],
    many: '{{count}} organizations are not deleted',
  },
  values:
    ({ record }) =>
    () => ({ name: record.displayName ?? record.name }),
  sample: { name: 'Example Compliance' },
  link: () => '/',
  unsubscribesFrom: 'organizations that are not deleted',
});
