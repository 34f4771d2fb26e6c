import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { integration } from '#entities/integrations/integration.ts';
import { connectedIntegrations } from '#entities/integrations/connected-integration-rows.ts';
import { secret } from '#entities/integrations/secret.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { removeSomeContents } from '#entities/kit/write/remove-contents.ts';
import { organization } from '#entities/organizations/organization.ts';
import { ProviderError } from '../clients/integrations/provider-error.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { defineRemovalStep } from './define-removal-step.ts';
import { lockRemoval, removalRequest } from './removal-state.ts';

/** Records that one transaction deletes, besides their dependents. */
const batchSize = 100;

/** Attempts to end a credential at the other system, which may be gone. */
const attempts = 2;

export const disconnectIntegrationsStep = defineRemovalStep({
  name: 'disconnectIntegrations',
  description:
    'Ends the credentials of integrations at the other systems as far as these answer, then deletes them and the receivers of events, also while the contents wait.',
  after: [],
  async run(deps, { id, removedOrganizationId }) {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
      deps.database.transact(workContext(systemCaller('remove organization'), removalRequest(id)), work);
    const isUndone = () => transact(async (unit) => !(await lockRemoval(unit, id)));
    for (;;) {
      const [next] = await transact((unit) => connectedIntegrations(unit, removedOrganizationId, 1));
      if (next === undefined || (await isUndone())) break;
      // No transaction is open while the other system is asked.
      await revokeIfPossible(deps, next);
      // Its end is stored, so that a repeated attempt of the step continues with the next one.
      await transact(async (unit) => {
        if (await lockRemoval(unit, id)) await disconnect(unit, next);
      });
    }
    let hasMore = true;
    while (hasMore)
      hasMore = await transact(async (unit) => {
        if (!(await lockRemoval(unit, id))) return false;
        return removeSomeContents(unit, organization, removedOrganizationId, batchSize, [integrationWebhook, secret]);
      });
  },
});

async function revokeIfPossible(
  { integrations, logger }: Pick<ActivityDependencies, 'integrations' | 'logger'>,
  integrationId: string,
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++)
    try {
      await integrations.revoke(integrationId);
      return;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      logger.warn({ err: error, integration_id: integrationId }, 'the credential was not ended at the other system');
      if (!error.isPassing) return;
    }
}

/** An undeleted organization connects it again. */
async function disconnect({ data }: UnitOfWork, integrationId: string): Promise<void> {
  const held = await data.findLocked(integration, integrationId);
  if (!held) return;
  for (const { id } of await data.find(secret, { where: { integrationId: { eq: integrationId } }, limit: batchSize }))
    await data.remove(secret, id);
  await data.update(integration, integrationId, {
    status: 'disconnected',
    statusBeforeLapse: null,
    credentialRef: null,
    nextProbeAt: null,
    nextSyncAt: null,
    isPrimaryDirectory: false,
  });
}
