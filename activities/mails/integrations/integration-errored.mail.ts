import { integration } from '#entities/integrations/integration.ts';
import { defineNotification } from '../define-notification.ts';
import { responsibleOrManagers } from './responsible-person.ts';

/** Notifies the person responsible that an integration has to be connected again; the managers, if that person is no member any more. */
export const integrationErrored = defineNotification(integration, 'errored', {
  listener: 'notify-integration-errored',
  description:
    'the person responsible for the integration, or the managers of the organization: it has to be connected again',
  audience: responsibleOrManagers,
  text: {
    title: 'Connect {{name}} again',
    body: ['The other system refuses the credential of the integration {{name}}.', '{{problem}}'],
    many: '{{count}} integrations have to be connected again',
  },
  values: ({ record }) => {
    const values = { name: record.name, problem: record.errorMessage ?? '' };
    return () => values;
  },
  stillApplies: ({ status }) => status === 'errored',
  sample: { name: 'Directory', problem: 'The other system answers with status 401. Connect the integration again.' },
  link: ({ id }) => `/integrations/${id}`,
  unsubscribesFrom: 'integrations that have to be connected again',
  isUrgent: true,
});
