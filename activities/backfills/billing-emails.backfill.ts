import { ownersOfSettings, settingsAfter } from '#entities/organizations/backfill-rows.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

export const billingEmailsBackfill = defineBackfill({
  name: 'billing-emails',
  version: 1,
  description: 'Gives organizations that never had an address for invoices the address of their first owner.',
  isWanted: () => true,
  find: settingsAfter,
  apply: async (unit, ids) => {
    const owners = await ownersOfSettings(unit, await lockRecords(unit, organizationSetting, ids));
    let changed = 0;
    for (const [billingEmail, own] of Map.groupBy(owners, ({ email }) => email))
      changed += (
        await unit.data.updateAll(
          organizationSetting,
          own.map(({ id }) => id),
          { billingEmail },
        )
      ).changed.length;
    return changed;
  },
});
