import { directoryAccount } from '#entities/integrations/directory-account.ts';
import { directoryGroup } from '#entities/integrations/directory-group.ts';
import { directoryMembership } from '#entities/integrations/directory-membership.ts';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { endOpenRun } from '#entities/integrations/runs/end-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { integration } from '#entities/integrations/integration.ts';
import { secret } from '#entities/integrations/secret.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { loopSignals, reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { definitionOf } from '../clients/integrations/definitions.ts';
import { loopedOperations } from '../clients/integrations/wanted-loops.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';

/** Records that one transaction deletes. */
const batchSize = 500;

/** In the order in which they are deleted: memberships refer to the others. */
const brought = [directoryMembership, directoryAccount, directoryGroup] as const;

interface ConnectionInput {
  readonly integrationId: string;
}

export type ConnectionsActivities = ReturnType<typeof createConnectionsActivities>;

export const createConnectionsActivities = defineActivities(({ database, integrations, logger, temporal }) => {
  const transact = <T>(integrationId: string, work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact(
      workContext(systemCaller('disconnect integration'), `integration-disconnect-${integrationId}`),
      work,
    );
  return {
    /** Ends the loops and the runs of an integration: what they bring in would come after its records are removed. */
    stopLoops: async ({ integrationId }: ConnectionInput): Promise<void> => {
      const row = await transact(integrationId, async (unit) => {
        await cancelRuns(unit, integrationId);
        return unit.data.findOne(integration, { id: { eq: integrationId } });
      });
      if (row?.connectedAt == null) return;
      const { organizationId } = row;
      const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: integrationId };
      for (const { name: operation } of loopedOperations(definitionOf(row.definitionId))) {
        const loop = { integrationId, operation, organizationId };
        await temporal.wake(reconcileIntegrationContract, loop, { signal: loopSignals.stop, search });
      }
    },

    /** Ends the credential at the other system. @throws ProviderError, which the log has */
    revokeCredential: async ({ integrationId }: ConnectionInput): Promise<void> => {
      try {
        await integrations.revoke(integrationId);
      } catch (error) {
        logger.warn({ err: error, integration_id: integrationId }, 'the credential was not ended at the other system');
        throw error;
      }
    },

    /** Deletes what belongs to an integration that is being disconnected, some of it at a time. @returns whether it is done */
    removeConnection: ({ integrationId }: ConnectionInput): Promise<boolean> =>
      transact(integrationId, async ({ data }) => {
        const held = await data.findLocked(integration, integrationId, 'remove');
        if (held?.status !== 'disconnecting') return true;
        const of = { integrationId: { eq: integrationId } };
        // A webhook first: what arrives afterwards finds nothing.
        for (const module of [integrationWebhook, secret] as const)
          for (const { id } of await data.find(module, { where: of, limit: batchSize })) await data.remove(module, id);
        if (held.keepsRecords) {
          const ended = {
            status: 'disconnected',
            credentialRef: null,
            errorCode: null,
            errorMessage: null,
            nextProbeAt: null,
          } as const;
          await data.update(integration, integrationId, { ...ended, erroredAt: null, isPrimaryDirectory: false });
          return true;
        }
        for (const module of brought) {
          const found = await data.find(module, { where: of, limit: batchSize });
          if (found.length === 0) continue;
          await data.removeAll(
            module,
            found.map(({ id }) => id),
          );
          return false;
        }
        await data.remove(integration, integrationId);
        return true;
      }),
  };
});

async function cancelRuns(unit: UnitOfWork, integrationId: string): Promise<void> {
  const open = await unit.data.find(integrationRun, {
    where: { integrationId: { eq: integrationId }, endedAt: { isNull: true } },
    limit: batchSize,
  });
  const error = { code: 'not_connected', message: 'The integration is being disconnected.' };
  for (const { id } of open) await endOpenRun(unit, id, { status: 'cancelled', error });
}
