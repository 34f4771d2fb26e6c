import { Type } from 'typebox';
import { heldModules } from '#entities/organizations/held-module-rows.ts';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { roles, type Role } from '#entities/kit/model/caller.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { applies } from '#entities/kit/access/entitled.ts';
import {
  moduleSources,
  productModules,
  type Entitlement,
  type ModuleSource,
} from '#entities/kit/model/product-modules.ts';
import { defineRoute } from '../../../http/route.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';
import { idSchema } from '../../../http/request-schemas.ts';

const descriptions: Readonly<Record<Role, readonly [name: string, description: string]>> = {
  owner: ['Owner', 'May do everything, and delete the organization. There is at least one.'],
  super_admin: ['Super administrator', 'May do everything except delete the organization.'],
  admin: [
    'Administrator',
    'Manages people, groups and settings. Sees and changes records such as tasks as a member does.',
  ],
  member: [
    'Member',
    'Creates records, and works with own ones, those assigned to them and those shared with their groups.',
  ],
  auditor: ['Auditor', 'Reads what a member reads, and changes nothing.'],
};

const RoleSchema = Type.Object(
  {
    id: Type.String({ description: 'Role, as memberships and invitations name it.' }),
    name: Type.String({ description: 'Name for people.' }),
    description: Type.String({ description: 'Rights of the role.' }),
  },
  { title: 'Role' },
);
const OwnRolesSchema = Type.Object(
  {
    organization_id: Type.Union([Type.String(), Type.Null()], {
      description: 'Id of the organization; null for none.',
    }),
    roles: Type.Array(RoleSchema, {
      description:
        'The role of the caller there: their own, or the one that they have in an organization above. Empty for none.',
    }),
  },
  { title: 'OwnRole' },
);

function described(role: Role) {
  const [name, description] = descriptions[role];
  return { id: role, name, description };
}

export const listRoles = defineRoute({
  method: 'GET',
  url: '/v1/roles',
  operationId: 'listRoles',
  tag: 'Account',
  summary: 'Roles of organizations',
  description: 'All roles that people can have in an organization, the strongest first.',
  access: 'required',
  acceptsSingleSignOn: true,
  answers: { 200: Type.Object({ roles: Type.Array(RoleSchema) }) },
  errors: [],
  handle: () => ({ status: 200, body: { roles: roles.map(described) } }),
});

export const ownRoles = defineRoute({
  method: 'GET',
  url: '/v1/account/roles',
  operationId: 'getOwnRole',
  tag: 'Account',
  summary: 'Own role in the current organization',
  description: 'The role of the caller in the organization that the access token is valid for, as of this request.',
  access: 'required',
  acceptsSingleSignOn: true,
  answers: { 200: OwnRolesSchema },
  errors: [],
  handle: ({ unit }) => {
    const { organizationId, role } = unit.context.caller;
    return { status: 200, body: { organization_id: organizationId, roles: role === null ? [] : [described(role)] } };
  },
});

export const ownRolesElsewhere = defineRoute({
  method: 'POST',
  url: '/v1/account/roles/organization',
  operationId: 'getOwnRoleInOrganization',
  tag: 'Account',
  summary: 'Own role in an organization',
  description: 'The role of the user in one of their organizations.',
  access: 'required',
  body: Type.Object({ organization_id: idSchema('Id of the organization.') }, { additionalProperties: false }),
  answers: { 200: OwnRolesSchema },
  errors: ['invalid_input', 'permission_denied', 'not_found'],
  handle: async (call) => {
    const { userId } = signedInPerson(call);
    const wanted = existingId(organization, call.body.organization_id);
    const { role } = await readMembershipState(call.unit, userId, wanted);
    if (role === null) throw missingRecord(organization, wanted);
    return { status: 200, body: { organization_id: wanted, roles: [described(role)] } };
  },
});

const FeatureSchema = Type.Object(
  {
    module: Type.Enum([...productModules], { description: 'Product module.' }),
    source: Type.Union([Type.Enum([...moduleSources]), Type.Null()], {
      description:
        'Why the organization has it: part of every plan, of the trial, of a subscription, or granted by the operator. Null: the server does not check modules.',
    }),
    ends_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the organization loses it from this source; null if no end is known.',
    }),
  },
  { title: 'Feature' },
);

export const ownFeatures = defineRoute({
  method: 'GET',
  url: '/v1/account/features',
  operationId: 'listOwnFeatures',
  tag: 'Account',
  summary: 'Product modules of the current organization',
  description:
    'The product modules that the organization of the access token can use, as of this request, and from where it has them. A module that it has from several sources is listed for each.',
  access: 'required',
  acceptsSingleSignOn: true,
  answers: {
    200: Type.Object({
      organization_id: OwnRolesSchema.properties.organization_id,
      features: Type.Array(FeatureSchema, { description: 'Product modules.' }),
    }),
  },
  errors: [],
  handle: async ({ unit, services }) => {
    const { organizationId, productModules: usable } = unit.context.caller;
    const isBilled = services.config.current.subscription.enabled;
    const held = organizationId === null ? [] : await heldModules(unit, organizationId);
    const applying = held.filter((one) => applies(one, isBilled, unit.clock.now()));
    const features = usable.flatMap<Omit<Entitlement, 'source'> & { readonly source: ModuleSource | null }>(
      (module) => {
        const own = applying.filter((one) => one.module === module);
        return own.length > 0 ? own : [{ module, source: null, endsAt: null }];
      },
    );
    return {
      status: 200,
      body: {
        organization_id: organizationId,
        features: features.map(({ module, source, endsAt }) => ({
          module,
          source,
          ends_at: endsAt?.toISOString() ?? null,
        })),
      },
    };
  },
});
