import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import { user } from '#entities/identity/user.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { failed, type ProviderIdentity } from '../../auth/sign-in-providers.ts';
import type { OpenedState } from '../../auth/sign-in-state.ts';
import { defineRoute, type Call, type RouteResponse } from '../../http/route.ts';
import { finishSignIn } from '../providers/finish-sign-in.ts';
import { checkNewIdentity, linkIdentity, personOfIdentity } from '../providers/person-of-identity.ts';
import {
  beginFlow,
  callbackErrors,
  CallbackQuery,
  identityOf,
  redirect,
  RedirectSchema,
  sessionOf,
  takeState,
  TargetField,
  targetOf,
} from '../providers/provider-flow.ts';
import { organizationProvider, settingsDigest, type Provider } from './organization-provider.ts';

/** Roles whose test of a provider counts. */
const managers: ReadonlySet<string> = new Set(['owner', 'super_admin', 'admin']);

export const singleSignOn = defineRoute({
  method: 'GET',
  url: '/v1/sso/login',
  tag: 'Single sign-on',
  summary: 'Sign in with the single sign-on of an organization',
  description:
    'Sends the browser to the provider of the organization. The sign-in is bound to this browser by a cookie and must be finished within ten minutes.',
  access: 'public',
  query: Type.Object(
    {
      organization_id: Type.String({ minLength: 1, maxLength: 26, description: 'Id of the organization.' }),
      redirect_uri: TargetField,
    },
    { additionalProperties: false },
  ),
  answers: { 302: RedirectSchema },
  errors: ['not_found', 'provider_unavailable'],
  handle: async (call) => {
    const { organization_id: id, redirect_uri: wanted } = call.query as Record<string, string>;
    const target = targetOf(call.services.config.current, wanted);
    const organizationId = existingId(organization, id ?? '');
    const { settings } = await organizationProvider(call, organizationId);
    const intent = {
      provider: 'sso',
      purpose: 'sign-in',
      target,
      session: null,
      organizationId,
      settings: null,
    } as const;
    return redirect(call, await beginFlow(call, settings, intent));
  },
});

export const singleSignOnCallback = defineRoute({
  method: 'GET',
  url: '/v1/sso/callback',
  tag: 'Single sign-on',
  summary: 'Return from the provider of an organization',
  description:
    'The provider sends the browser here. Begins a session that counts in the organization alone. People with a verified address of an allowed domain become members; a new address gets a new account, one that has an account is refused with identity_not_linked.',
  access: 'public',
  query: CallbackQuery,
  answers: { 302: RedirectSchema },
  // It uses up the state in a transaction of its own, and asks the provider.
  runsOnce: true,
  errors: callbackErrors,
  handle: async (call) => {
    const opened = await takeState(call, 'sso');
    const { row, settings } = await organizationProvider(call, opened.organizationId ?? '');
    const identity = await identityOf(call, settings, opened);
    if (opened.purpose !== 'sign-in') return linkOrTest(call, opened, identity, row);
    const isOfDomain = hasAllowedDomain(row, identity);
    if (isOfDomain) await checkNewIdentity(call, identity);
    const { unit } = call;
    const data = unit.data.privileged('single sign-on');
    const owner = await personOfIdentity(unit, data, identity, 'single_sign_on', isOfDomain);
    // Of two sign-ins at the same time, the second finds the membership that the first has created.
    const { userId } = owner;
    await data.findLocked(user, userId);
    if ((await readMembershipState(unit, userId, row.organizationId)).role === null) {
      if (!isOfDomain) throw failed('you are not a member of the organization');
      await data.create(membership, { organizationId: row.organizationId, userId, role: 'member' });
    }
    const { organizationId } = row;
    const proven = { ...owner, method: 'single_sign_on', singleSignOnId: organizationId } as const;
    return finishSignIn(call, opened.target, proven);
  },
});

/** Whether people with this address become members when they sign in. */
function hasAllowedDomain({ allowedDomains }: Provider, { email }: ProviderIdentity): boolean {
  return email !== null && allowedDomains.includes(email.slice(email.lastIndexOf('@') + 1));
}

/** Links the identity to the account of the session that asked for it; a test also counts for the settings of then. */
async function linkOrTest(
  call: Call<unknown>,
  opened: OpenedState,
  identity: ProviderIdentity,
  row: Provider,
): Promise<RouteResponse> {
  const data: DataClient = call.unit.data.privileged('single sign-on');
  const person = await sessionOf(data, opened);
  const { role } = await readMembershipState(call.unit, person.id, row.organizationId);
  if (role === null) throw failed('you are not a member of the organization');
  await linkIdentity(call.unit, data, person.id, identity, 'single_sign_on');
  if (opened.purpose === 'test') {
    const held = await data.findLocked(identityProvider, row.id);
    if (!held || settingsDigest(held) !== opened.settings || !managers.has(role))
      throw failed('the settings of the single sign-on have changed since the test began');
    await data.update(identityProvider, row.id, { testedAt: call.services.clock.now() });
  }
  return redirect(call, opened.target);
}
