import { integration } from '#entities/integrations/integration.ts';
import { localInstant } from '#entities/kit/base/localized.ts';
import { defineNotification } from '../define-notification.ts';
import { responsibleOrManagers } from './responsible-person.ts';

/** Notifies the person responsible that the credential of an integration ends; the managers, if that person is no member any more. */
export const integrationExpiring = defineNotification(integration, 'expiring', {
  listener: 'notify-integration-expiring',
  description:
    'the person responsible for the integration, or the managers of the organization: its credential ends within two weeks',
  audience: responsibleOrManagers,
  text: {
    title: 'Connect {{name}} again by {{date}}',
    body: [
      'The credential with which {{name}} is connected stops working on {{date}}. Connect the integration again before.',
    ],
    many: '{{count}} integrations have to be connected again soon',
  },
  values:
    ({ record, event: { payload } }) =>
    (locale) => ({ name: record.name, date: localInstant(new Date(payload.expiresAt), locale) }),
  stillApplies: ({ status, expiryAnnouncedAt }) => status === 'connected' && expiryAnnouncedAt !== null,
  sample: { name: 'Directory', date: 'June 1, 2026 at 12:00 PM UTC' },
  link: ({ id }) => `/integrations/${id}`,
  unsubscribesFrom: 'credentials of integrations that stop working soon',
});
