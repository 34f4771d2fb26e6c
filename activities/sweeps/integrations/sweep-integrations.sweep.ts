import { integration } from '#entities/integrations/integration.ts';
import { dueIntegrations, type DueIntegration } from '#entities/integrations/due-integration-rows.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { actOnIntegrationContract } from '#workflows/integrations/act-on-integration.contract.ts';
import { wakeOf } from '../../kit/wake-of.ts';
import { defineSweep } from '../define-sweep.ts';

const reasons: Readonly<Record<DueIntegration['need'], string>> = {
  remove: 'nobody has connected it in time',
  limit: 'it has no time by which it is removed',
  probe: 'it does not work',
  finish: 'its disconnection has not ended',
  resume: 'its next round is late',
  announce: 'its credential ends soon',
};

/** `integrations.integrationlifecycle`. Each action is a workflow, which decides again. */
export const sweepIntegrationsSweep = defineSweep({
  name: 'sweepIntegrations',
  description:
    'Removes integrations that nobody has connected, looks whether those that do not work work again, finishes disconnections, resumes late rounds, and notifies of credentials that end soon.',
  queue: 'integrations',
  every: 15 * 60_000,
  settings: ({ integrations }) => ({
    isEnabled: integrations.integrationlifecycle.enabled,
    isDryRun: integrations.integrationlifecycle.dryrun,
    maxExamined: integrations.integrationlifecycle.maxperrun,
  }),
  find: (unit, { now, limit, after, only }) =>
    dueIntegrations(unit, { now, limit, ...(after ? { after } : {}), ...(only === undefined ? {} : { only }) }),
  position: ({ due, id }) => [due, id],
  lock: ({ data }, id) => data.findLocked(integration, id),
  decide: ({ need }) => ({ action: need, reason: reasons[need] }),
  act: async (unit, { id, organizationId }, _action, { now }) => {
    const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: id };
    await keepWakes(unit, [wakeOf(actOnIntegrationContract, { integrationId: id, at: now.toISOString() }, search)], {
      unlessKept: true,
    });
  },
});
