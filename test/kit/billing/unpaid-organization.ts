import { organization, organizationBilling, organizationSetting } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';
import { asSystem } from '../as-person.ts';
import type { World } from '../world.ts';

/** Ids of new organizations for which nobody pays: their trial is over, and their customers were read. */
export function unpaidOrganizations({ runtime, clock }: World, count: number): Promise<string[]> {
  const context = { caller: systemCaller('test builder'), requestId: `build-${newId()}` };
  return runtime.database.transact(context, async ({ data }) => {
    const ids = [];
    for (let left = count; left > 0; left--) {
      const { id } = await data.create(organization, { name: `unpaid-${newId()}` });
      const billing = await data.findOne(organizationBilling, { organizationId: { eq: id } });
      const now = clock.now();
      await data.update(organizationBilling, billing?.id ?? '', {
        trialEndsAt: now,
        reconciledAt: now,
        nextCheckAt: null,
        isLapsed: true,
      });
      ids.push(id);
    }
    return ids;
  });
}

/** Settings of an organization; with changes, as they are afterwards. */
export function settingsOf(
  world: World,
  organizationId: string,
  changes?: ChangesOf<typeof organizationSetting>,
): Promise<RowOf<typeof organizationSetting>> {
  return asSystem(world, organizationId, async (data) => {
    const found = await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
    if (!found) throw new Error(`the organization ${organizationId} has no settings`);
    return changes ? data.update(organizationSetting, found.id, changes) : found;
  });
}

/** Marks an organization as if that had been so many days ago, with so many until the day of which people were notified. */
export function markSince(world: World, organizationId: string, days: number, deletiondays = 7) {
  const at = world.clock.now().getTime() - days * 86_400_000;
  return settingsOf(world, organizationId, {
    markedForDeletionAt: new Date(at),
    deletionNotBefore: new Date(at + deletiondays * 86_400_000),
    deletionNotice: 'one_day',
  });
}
