import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { directorySyncRun } from '#entities/integrations/directory-sync-run.ts';
import { integration } from '#entities/integrations/integration.ts';
import { directoriesAwaiting } from '#entities/integrations/provisioning-rows.ts';
import { on } from '#entities/kit/model/events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { provisionDirectoryContract } from '#workflows/integrations/provision-directory.contract.ts';
import { defineListener } from '../listener.ts';

/** Fields of an integration on which memberships depend. */
const deciding = new Set(['isPrimaryDirectory', 'userInput', 'status']);

const changed = on(integration, 'updated');
const passed = on(directorySyncRun, 'updated');
const [confirmed, moved] = [on(user, 'confirmed'), on(emailChange, 'confirmed')];

/** Lets memberships follow the primary directory: after a pass over it, a push, a change of its settings, or when a person confirms an address that it has. */
export const provisionDirectory = defineListener(
  'provision-directory',
  [changed, passed, on(integration, 'pushed'), confirmed, moved],
  async ({ event: { topic, entityId, payload }, unit, wake }) => {
    const { data } = unit;
    const wakeFor = (integrationId: string, organizationId: string) => {
      const search = { OrganizationId: [organizationId], EntityKind: 'integration', EntityId: integrationId };
      wake(provisionDirectoryContract, { integrationId }, { search });
    };
    if (topic === confirmed.topic || topic === moved.topic) {
      const userId = topic === moved.topic ? await personOf(data, entityId) : entityId;
      for (const { integrationId, organizationId } of await directoriesAwaiting(unit, userId))
        wakeFor(integrationId, organizationId);
      return;
    }
    const fields = (payload as { readonly changed?: readonly string[] }).changed ?? [];
    if (topic === changed.topic && !fields.some((name) => deciding.has(name))) return;
    const pass = topic === passed.topic ? await data.findOne(directorySyncRun, { id: { eq: entityId } }) : undefined;
    // Also one that has failed or waits has found accounts that are inactive.
    if (topic === passed.topic && (!pass || pass.status === 'running')) return;
    const row = await data.findOne(integration, { id: { eq: pass?.integrationId ?? entityId } });
    if (row?.isPrimaryDirectory) wakeFor(row.id, row.organizationId);
  },
);

async function personOf(data: UnitOfWork['data'], changeId: string): Promise<string> {
  return (await data.findOne(emailChange, { id: { eq: changeId } }))?.userId ?? '';
}
