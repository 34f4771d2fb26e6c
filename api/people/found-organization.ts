import type { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import type { CreationOf, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/**
 * Creates an organization with its first member, who owns it, and with its settings, managed groups and entity types.
 * @param data with the rights of the server: nobody has a right to an organization that does not exist
 */
export async function foundOrganization(
  data: DataClient,
  input: CreationOf<typeof organization>,
  owner: Pick<RowOf<typeof user>, 'id' | 'email'>,
  settings: Partial<CreationOf<typeof organizationSetting>> = {},
): Promise<RowOf<typeof organization>> {
  const child = (module: typeof membership | typeof organizationSetting, values: Record<string, unknown>) => ({
    field: 'organizationId',
    creation: { module, input: values, path: '' },
  });
  const [created] = await data.createAll([
    {
      module: organization,
      input,
      path: '',
      children: [
        child(organizationSetting, { billingEmail: owner.email, ...settings }),
        child(membership, { userId: owner.id, role: 'owner' }),
      ],
    },
  ]);
  // The row of the first creation, of its kind.
  return created as unknown as RowOf<typeof organization>;
}
