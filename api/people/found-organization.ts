import { organizationBilling } from '#entities/billing/organization-billing.ts';
import { newTrial, type Trial } from '#entities/billing/entitlements.ts';
import { selectedCatalogue } from '#entities/billing/catalogue/selected-catalogue.ts';
import type { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organizationModule } from '#entities/organizations/organization-module.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { CreationOf, EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Services } from '../http/services.ts';

interface Founding {
  readonly settings?: Partial<CreationOf<typeof organizationSetting>>;
  /** Absent for organizations that nobody pays for: personal ones, and those below another one. */
  readonly trial?: Trial | undefined;
}

/**
 * Creates an organization with its first member, who owns it, and with its settings, managed groups, entity types and trial.
 * @param data with the rights of the server: nobody has a right to an organization that does not exist
 */
export async function foundOrganization(
  data: DataClient,
  input: CreationOf<typeof organization>,
  owner: Pick<RowOf<typeof user>, 'id' | 'email'>,
  { settings, trial }: Founding = {},
): Promise<RowOf<typeof organization>> {
  const [created] = await data.createAll([
    {
      module: organization,
      input,
      path: '',
      children: [
        child(organizationSetting, { billingEmail: owner.email, ...settings }),
        child(membership, { userId: owner.id, role: 'owner' }),
        ...(trial ? [child(organizationBilling, { trialEndsAt: trial.endsAt })] : []),
        ...(trial?.modules ?? []).map((module) => child(organizationModule, { ...module })),
      ],
    },
  ]);
  // The row of the first creation, of its kind.
  return created as unknown as RowOf<typeof organization>;
}

function child(module: EntityModule, values: Readonly<Record<string, unknown>>) {
  return { field: 'organizationId', creation: { module, input: values, path: '' } };
}

/** The trial with which an organization begins; undefined without billing. */
export function trialOf({ config, clock }: Pick<Services, 'config' | 'clock'>): Trial | undefined {
  const { subscription, ormconfig } = config.current;
  return subscription.enabled ? newTrial(selectedCatalogue(ormconfig.modules), clock.now()) : undefined;
}
