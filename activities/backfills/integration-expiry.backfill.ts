import { integration } from '#entities/integrations/integration.ts';
import { pendingWithoutExpiry, stillWithoutExpiry } from '#entities/integrations/due-integration-rows.ts';
import { pendingLifetimeMs } from '#entities/integrations/pending-lifetime.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

export const integrationExpiryBackfill = defineBackfill({
  name: 'integration-expiry',
  version: 1,
  description: 'Gives integrations that nobody has connected a time by which they are removed: a week from now.',
  isWanted: () => true,
  find: pendingWithoutExpiry,
  apply: async (unit, ids) => {
    const lacking = await stillWithoutExpiry(unit, await lockRecords(unit, integration, ids));
    const expiresAt = new Date(unit.clock.now().getTime() + pendingLifetimeMs);
    return (await unit.data.updateAll(integration, lacking, { expiresAt })).changed.length;
  },
});
