import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { defineRoute, type Call, type Route } from '../../../http/route.ts';
import { signedInPerson } from '../../../credentials/signed-in-person.ts';

const nullable = (description: string, options: { readonly format?: 'date-time' } = {}) =>
  Type.Union([Type.String(options), Type.Null()], { description });

/** The standard claims of OpenID Connect (Core 1.0, section 5.1), and what this server knows besides. */
const UserinfoSchema = Type.Object(
  {
    sub: Type.String({ description: 'Id of the user.' }),
    email: Type.String({ description: 'E-mail address.' }),
    email_verified: Type.Boolean({ description: 'Whether the address is confirmed.' }),
    name: Type.String({ description: 'Name shown to other users.' }),
    given_name: nullable('Given name.'),
    family_name: nullable('Family name.'),
    updated_at: Type.Integer({ description: 'When the profile was last changed, in seconds since 1970.' }),
    organization_id: nullable('Id of the organization that the access token is valid for.'),
    organization_role: nullable('Role of the user in this organization.'),
    modules: Type.Array(Type.Enum([...productModules]), {
      description: 'Product modules that the organization can use, as of this request.',
    }),
    default_organization_id: nullable(
      'Id of the organization in which sign-ins begin; null for the one joined first, and in sessions of single sign-on.',
    ),
    organization_marked_for_deletion_at: nullable(
      'When the organization was marked for deletion; null when it is not. Show it to everybody.',
      { format: 'date-time' },
    ),
    organization_deletion_not_before: nullable('Earliest time of its deletion.', { format: 'date-time' }),
    last_seen_at: nullable('When the user last signed in or refreshed their tokens.', { format: 'date-time' }),
  },
  { title: 'Userinfo' },
);

/** One answer at two addresses: clients of OpenID Connect know the second. */
export const userinfoRoutes: readonly Route[] = [
  ['/v1/account/userinfo', 'getUserinfo', 'Identity of the caller'],
  ['/oauth/userinfo', 'getOpenIdUserinfo', 'Identity of the caller, for clients of OpenID Connect'],
].map(([url = '', operationId = '', summary = '']) =>
  defineRoute({
    method: 'GET',
    url,
    operationId,
    tag: 'Account',
    summary,
    description:
      'The signed-in user, with the standard claims of OpenID Connect. Change the names with PATCH /v1/users/{id}.',
    access: 'required',
    acceptsSingleSignOn: true,
    allowsMissingFactor: true,
    answers: { 200: UserinfoSchema },
    errors: ['permission_denied'],
    handle: readUserinfo,
  }),
);

async function readUserinfo(call: Call<unknown>) {
  const { userId } = signedInPerson(call);
  const { organizationId, role, productModules: enabled, singleSignOnId } = call.unit.context.caller;
  const data = call.unit.data.privileged('read own account');
  const person = await data.get(user, userId);
  const setting =
    organizationId === null
      ? undefined
      : await data.findOne(organizationSetting, { organizationId: { eq: organizationId } });
  return {
    status: 200,
    body: {
      sub: person.id,
      email: person.email,
      email_verified: person.emailConfirmedAt !== null,
      name: person.displayName,
      given_name: person.firstName,
      family_name: person.lastName,
      updated_at: Math.floor(person.updatedAt.getTime() / 1_000),
      organization_id: organizationId,
      organization_role: role,
      modules: organizationId === null ? [] : enabled,
      // It may be another organization, which a session of single sign-on does not see.
      default_organization_id: singleSignOnId === null ? person.defaultOrganizationId : null,
      organization_marked_for_deletion_at: setting?.markedForDeletionAt?.toISOString() ?? null,
      organization_deletion_not_before: setting?.deletionNotBefore?.toISOString() ?? null,
      last_seen_at: person.lastSeenAt?.toISOString() ?? null,
    },
  };
}
