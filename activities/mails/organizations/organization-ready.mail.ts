import { localNumber } from '#entities/kit/base/localized.ts';
import { organization } from '#entities/organizations/organization.ts';
import { owners } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

/** Its first tasks are there. The list in the app is enough: the owner is working in it. */
export const organizationReady = defineNotification(organization, 'ready', {
  listener: 'notify-organization-ready',
  description: 'the owners of an organization: its first tasks are there',
  audience: owners,
  tellsActor: true,
  text: {
    title: 'Your organization is ready',
    body: ['{{name}} has {{tasks}} tasks that suggest what to do first.'],
    many: '{{count}} organizations are ready',
  },
  values:
    ({ record, event: { payload } }) =>
    (locale) => ({ name: record.displayName ?? record.name, tasks: localNumber(payload.tasks, locale) }),
  sample: { name: 'Example Compliance', tasks: '4' },
  link: () => '/',
  unsubscribesFrom: 'organizations that are ready',
  channels: [],
});
