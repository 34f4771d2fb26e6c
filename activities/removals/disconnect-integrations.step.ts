import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { secret } from '#entities/integrations/secret.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { removeSomeContents } from '#entities/kit/write/remove-contents.ts';
import { organization } from '#entities/organizations/organization.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineRemovalStep } from './define-removal-step.ts';
import { lockRemoval, removalRequest } from './removal-state.ts';

/** Records that one transaction deletes, besides their dependents. */
const batchSize = 100;

export const disconnectIntegrationsStep = defineRemovalStep({
  name: 'disconnectIntegrations',
  description:
    'Deletes the credentials of integrations and the receivers of their events, also while the contents wait.',
  after: [],
  async run({ database }, { id, removedOrganizationId }) {
    const context = () => workContext(systemCaller('remove organization'), removalRequest(id));
    let hasMore = true;
    while (hasMore)
      hasMore = await database.transact(context(), async (unit) => {
        if (!(await lockRemoval(unit, id))) return false;
        return removeSomeContents(unit, organization, removedOrganizationId, batchSize, [integrationWebhook, secret]);
      });
  },
});
