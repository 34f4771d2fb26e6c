import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { organizationsAfter, organizationsWithoutBilling } from '#entities/organizations/backfill-rows.ts';
import { organization } from '#entities/organizations/organization.ts';
import { defineBackfill } from './define-backfill.ts';
import { lockRecords } from './lock-records.ts';

/** The first comparison with the payment provider begins the trial and writes what the customer has. */
export const billingRowsBackfill = defineBackfill({
  name: 'billing-rows',
  version: 1,
  description: 'Gives organizations from before billing the record of their billing, whose trial then begins.',
  isWanted: ({ subscription }) => subscription.enabled,
  find: organizationsAfter,
  apply: async (unit, ids) => {
    const lacking = await organizationsWithoutBilling(unit, await lockRecords(unit, organization, ids));
    if (lacking.length === 0) return 0;
    const inputs = lacking.map((organizationId) => ({
      module: organizationBilling,
      input: { organizationId },
      path: '',
    }));
    return (await unit.data.createAll(inputs)).length;
  },
});
