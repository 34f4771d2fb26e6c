import { hashPassword } from '#api/auth/password.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organizationModule } from '#entities/organizations/organization-module.ts';
import { organization } from '#entities/organizations/organization.ts';
import { systemCaller, type Role } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { productModules, type ProductModule } from '#entities/kit/model/product-modules.ts';

/** Password of all demo users. They exist in development only. */
export const demoPassword = 'core-demo-password';

/** The user that the printed commands sign in. */
export const demoEmail = 'ada@acme.example';

const organizations = [
  { name: 'Acme', displayName: 'Acme Corporation' },
  { name: 'Globex', displayName: 'Globex Industries' },
] as const;

type OrganizationName = (typeof organizations)[number]['name'];

/** The demo users and their roles. */
export const demoPeople: readonly {
  readonly email: string;
  readonly displayName: string;
  readonly roles: Partial<Record<OrganizationName, Role>>;
}[] = [
  { email: demoEmail, displayName: 'Ada Acme', roles: { Acme: 'owner' } },
  { email: 'ben@acme.example', displayName: 'Ben Acme', roles: { Acme: 'admin', Globex: 'member' } },
  { email: 'cleo@globex.example', displayName: 'Cleo Globex', roles: { Globex: 'owner' } },
  { email: 'dora@audit.example', displayName: 'Dora Audit', roles: { Acme: 'auditor', Globex: 'auditor' } },
];

/**
 * Creates two organizations with every product module, and four users with different roles. Existing records are not
 * changed, so it can run at every start.
 * @returns id of the organization that the demo user signs in to
 */
export async function seedDemo(database: Database): Promise<string> {
  const passwordHash = await hashPassword(demoPassword);
  return database.transact({ caller: systemCaller('demo'), requestId: 'demo-seed' }, async ({ data }) => {
    const ids = new Map<string, string>();
    for (const wanted of organizations) ids.set(wanted.name, await organizationId(data, wanted));
    for (const id of ids.values()) for (const module of productModules) await switchOn(data, id, module);
    for (const { roles, ...person } of demoPeople) {
      const userId = await personId(data, person, passwordHash, database.options.clock.now());
      for (const [name, role] of Object.entries(roles)) await join(data, ids.get(name) as string, userId, role);
    }
    return ids.get('Acme') as string;
  });
}

async function organizationId(data: DataClient, wanted: (typeof organizations)[number]): Promise<string> {
  const held = await data.findOne(organization, { name: { eq: wanted.name } });
  return (held ?? (await data.create(organization, wanted))).id;
}

async function switchOn(data: DataClient, organizationId: string, module: ProductModule): Promise<void> {
  const held = await data.findOne(organizationModule, {
    organizationId: { eq: organizationId },
    module: { eq: module },
    source: { eq: 'granted' },
  });
  if (!held) await data.create(organizationModule, { organizationId, module, source: 'granted' });
}

async function personId(
  data: DataClient,
  person: { readonly email: string; readonly displayName: string },
  passwordHash: string,
  now: Date,
): Promise<string> {
  const held = await data.findOne(user, { email: { eq: person.email } });
  return (held ?? (await data.create(user, { ...person, passwordHash, emailConfirmedAt: now }))).id;
}

async function join(data: DataClient, organizationId: string, userId: string, role: Role): Promise<void> {
  const held = await data.findOne(membership, { organizationId: { eq: organizationId }, userId: { eq: userId } });
  if (!held) await data.create(membership, { organizationId, userId, role });
}
