import type { Entitlement } from '../kit/model/product-modules.ts';
import { pageOf, type ComparedPage, type Comparison } from '../kit/outbox/comparison.ts';
import { liveCatalogue } from './catalogue/live.ts';
import { sandboxCatalogue } from './catalogue/sandbox.ts';
import { entitlementsOf } from './entitlements.ts';
import { moduleDifferences, storedFacts, type StoredPrice, type StoredSubscription } from './stored-facts.ts';

interface OfOrganization {
  readonly organizationId: string;
}

interface BillingRow extends OfOrganization {
  readonly id: string;
  readonly trialEndsAt: Date | null;
  readonly isLapsed: boolean;
  readonly reconciledAt: Date;
}

/** Lookup keys of both differ. Prices are stored with a key only if the selected catalogue had it. */
const catalogue = [...liveCatalogue, ...sandboxCatalogue];

/** Compares the modules of organizations with those that follow from their stored subscriptions. */
export const entitlementComparison: Comparison = {
  name: 'entitlements',
  first: [''],
  page: async (work, { after, limit }): Promise<ComparedPage> => {
    const session = await work.readAs('system');
    // Contents of deleted organizations are removed in any order.
    const { rows } = await session.query<BillingRow>(
      `select b.id, b.organization_id as "organizationId", b.trial_ends_at as "trialEndsAt", b.is_lapsed as "isLapsed",
         b.reconciled_at as "reconciledAt"
       from organization_billings b join organizations o on o.id = b.organization_id and o.deleted_at is null
       where b.id > $1 and b.deleted_at is null and b.reconciled_at is not null order by b.id limit $2`,
      [...after, limit],
    );
    const ofThese = async <Row extends OfOrganization>(columns: string, table: string) => {
      const found = await session.query<Row>(
        `select organization_id as "organizationId", ${columns} from ${table} where organization_id = any($1) and deleted_at is null`,
        [rows.map(({ organizationId }) => organizationId)],
      );
      return Map.groupBy(found.rows, ({ organizationId }) => organizationId);
    };
    const subscriptions = await ofThese<OfOrganization & StoredSubscription>(
      `id, external_id as "externalId", status, is_trial_of_server as "isTrialOfServer", trial_ends_at as "trialEndsAt",
       cancels_at as "cancelsAt", next_attempt_at as "nextAttemptAt"`,
      'organization_subscriptions',
    );
    const prices = await ofThese<OfOrganization & StoredPrice>(
      `subscription_id as "subscriptionId", external_id as "externalId", lookup_key as "lookupKey", quantity`,
      'organization_prices',
    );
    const modules = await ofThese<OfOrganization & Entitlement>(
      `module, source, ends_at as "endsAt"`,
      'organization_modules',
    );
    const lines = rows.flatMap(({ organizationId, trialEndsAt, isLapsed, reconciledAt: now }) => {
      const held = modules.get(organizationId) ?? [];
      const own = held.filter(({ source }) => source !== 'granted');
      const facts = storedFacts(subscriptions.get(organizationId) ?? [], prices.get(organizationId) ?? []);
      // Grants come and go between readings of the customer.
      const should = entitlementsOf({ subscriptions: facts, trialEndsAt, grants: [], now }, catalogue);
      const differs = own.length === held.length && isLapsed !== should.isLapsed;
      return [
        ...moduleDifferences(own, should.modules),
        ...(differs ? [`The organization has ${should.isLapsed ? '' : 'not '}lapsed.`] : []),
      ].map((line) => `organization ${organizationId}: ${line}`);
    });
    return { lines, ...pageOf(rows, limit, ({ id }) => [id]) };
  },
};
