import { markErrored } from '#entities/integrations/connections/connection-status.ts';
import { integration } from '#entities/integrations/integration.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { on } from '#entities/kit/model/events.ts';
import { reconcileIntegrationContract } from '#workflows/integrations/reconcile-integration.contract.ts';
import { codeHostSource } from '../../clients/integrations/codehostapp/code-host-events.ts';
import { wantedLoops } from '../../clients/integrations/wanted-loops.ts';
import { defineListener } from '../listener.ts';

/** Most integrations that use one installation, each in an organization of its own. */
const maxIntegrations = 100;

const problems: ReadonlyMap<string, string> = new Map([
  ['installation.deleted', 'The app was uninstalled at the code host. Connect the integration again.'],
  [
    'installation.suspend',
    'The installation of the app was suspended at the code host. Let an owner there end the suspension, or connect the integration again.',
  ],
]);

/** Follows events of the code host about an installation: its end stops the integration, a change in its organization wakes the loops. */
export const applyCodeHostEvent = defineListener(
  'apply-code-host-event',
  [on(webhookEvent, 'received')],
  async ({ event: { payload }, unit, wake }) => {
    const { provider, type, values } = payload;
    const { installationId } = values;
    if (provider !== codeHostSource || installationId === undefined) return;
    const { data } = unit;
    const rows = await data.find(integration, {
      where: { definitionId: { eq: codeHostSource }, accountId: { eq: installationId } },
      limit: maxIntegrations,
    });
    const problem = problems.get(type);
    for (const row of rows) {
      const { id: integrationId, organizationId } = row;
      if (problem !== undefined) await markErrored(unit, integrationId, { code: 'unauthorized', message: problem });
      else if (type === 'installation.unsuspend' && row.status === 'errored')
        await data.update(integration, integrationId, { nextProbeAt: unit.clock.now() });
      else
        for (const operation of wantedLoops(row))
          wake(reconcileIntegrationContract, { integrationId, operation, organizationId });
    }
  },
);
