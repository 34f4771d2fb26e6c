import { integration } from '#entities/integrations/integration.ts';
import { dueIntegrations, endOfStoredCredential } from '#entities/integrations/due-integration-rows.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { disconnectIntegrationContract } from '#workflows/integrations/disconnect-integration.contract.ts';
import { ProviderError } from '../clients/integrations/provider-error.ts';
import { isNotConnected } from '../clients/integrations/not-connected.ts';
import type { ProviderAccount } from '../clients/integrations/definition.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities } from '../kit/activity-dependencies.ts';
import { beginDisconnect } from '#entities/integrations/connections/begin-disconnect.ts';
import { pendingLifetimeMs } from '#entities/integrations/pending-lifetime.ts';
import { markConnected, nextProbeAt } from '#entities/integrations/connections/connection-status.ts';
import type { Integration } from '#entities/integrations/connections/stored-credential.ts';
import { wakeOf } from '../kit/wake-of.ts';
import { wakeLoops } from './loops/wake-loops.ts';

export type LifecycleActivities = ReturnType<typeof createLifecycleActivities>;

/** Result of a look at the other system: the account, or why there is none. */
type Look = { readonly account: ProviderAccount } | { readonly refusal: ProviderError | undefined };

export const createLifecycleActivities = defineActivities(({ database, integrations }) => {
  const transact = <T>(integrationId: string, work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact(workContext(systemCaller('sweep integrations'), `integration-act-${integrationId}`), work);

  const probe = async (integrationId: string): Promise<Look> => {
    try {
      return { account: await integrations.probe(integrationId) };
    } catch (error) {
      // Also an integration that the operator does not offer any more.
      if (isNotConnected(error)) return { refusal: undefined };
      if (error instanceof ProviderError) return { refusal: error.isPassing ? undefined : error };
      throw error;
    }
  };

  return {
    /** Decides again whether an integration is due, and does what it needs. @returns what was done, as a word for operators */
    actOnDueIntegration: async ({ integrationId }: { readonly integrationId: string }): Promise<string> => {
      const need = await transact(integrationId, async (unit) => {
        const held = await unit.data.findLocked(integration, integrationId);
        const [due] = await dueIntegrations(unit, { now: unit.clock.now(), limit: 1, only: integrationId });
        if (!held || !due) return 'nothing';
        if (due.need === 'remove') await beginDisconnect(unit, held, { keepsRecords: false });
        if (due.need === 'limit')
          await unit.data.update(integration, integrationId, {
            expiresAt: new Date(unit.clock.now().getTime() + pendingLifetimeMs),
          });
        if (due.need === 'finish') await finishDisconnection(unit, held);
        if (due.need === 'resume') await wakeLoops(unit, held);
        if (due.need === 'announce') await announceExpiry(unit, held);
        return due.need;
      });
      if (need !== 'probe') return need;
      const look = await probe(integrationId);
      return transact(integrationId, (unit) => settle(unit, integrationId, look));
    },
  };
});

/** Wakes the workflow again that disconnects. The next time is later, so that one which does not end holds up no others. */
async function finishDisconnection(unit: UnitOfWork, held: Integration): Promise<void> {
  const { id: integrationId, organizationId, probes } = held;
  await unit.data.update(integration, integrationId, {
    probes: probes + 1,
    nextProbeAt: nextProbeAt(unit.clock.now(), probes + 1),
  });
  const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: integrationId };
  await keepWakes(unit, [wakeOf(disconnectIntegrationContract, { integrationId }, search)], { unlessKept: true });
}

/** Notifies the person responsible, once. */
async function announceExpiry(unit: UnitOfWork, { id }: Integration): Promise<void> {
  const expiresAt = await endOfStoredCredential(unit, id);
  const announced = await unit.data.update(integration, id, { expiryAnnouncedAt: unit.clock.now() });
  if (expiresAt) unit.emit(customEvent(integration, 'expiring', announced, { expiresAt: expiresAt.toISOString() }));
}

/** Connects an integration again that works, and looks at one that does not ever more rarely. @returns its status */
async function settle(unit: UnitOfWork, integrationId: string, look: Look): Promise<string> {
  const held = await unit.data.findLocked(integration, integrationId);
  if (held?.status !== 'errored') return 'nothing';
  if ('account' in look) {
    const { account } = look;
    await wakeLoops(unit, await markConnected(unit, held, { account, credentialRef: held.credentialRef ?? '' }));
    return 'connected';
  }
  const { refusal } = look;
  const probes = held.probes + 1;
  await unit.data.update(integration, held.id, {
    probes,
    nextProbeAt: nextProbeAt(unit.clock.now(), probes),
    ...(refusal ? { errorCode: refusal.code, errorMessage: refusal.message } : {}),
  });
  return 'errored';
}
