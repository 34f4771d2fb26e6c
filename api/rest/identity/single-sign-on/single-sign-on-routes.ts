import { Type } from 'typebox';
import { organization } from '#entities/organizations/organization.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { isManager } from '#entities/presets/roles.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { decidingMembership } from '#entities/kit/access/single-sign-on.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { failed, type ProviderIdentity } from '../../../auth/sign-in-providers.ts';
import type { OpenedState } from '../../../auth/sign-in-state.ts';
import { defineRoute, type Call, type RouteResponse } from '../../../http/route.ts';
import { signInRefusal } from '../../../pages/error-page.ts';
import { finishSignIn } from '../providers/finish-sign-in.ts';
import { linkIdentity } from '../providers/person-of-identity.ts';
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
import { countedAsGuess } from './counted-guess.ts';
import { admitNewcomer, memberOf, realmOf } from './newcomers.ts';
import { organizationProvider, providerDigest, type Provider } from './organization-provider.ts';
import { idSchema } from '../../../http/request-schemas.ts';

export const singleSignOn = defineRoute({
  method: 'GET',
  url: '/v1/sso/login',
  operationId: 'beginSingleSignOn',
  tag: 'Single sign-on',
  summary: 'Sign in with the single sign-on of an organization',
  description:
    'Sends the browser to the provider of the organization. The sign-in is bound to this browser by a cookie and must be finished within ten minutes.',
  access: 'public',
  limitClass: 'flow',
  query: Type.Object(
    {
      organization_id: idSchema('Id of the organization.'),
      redirect_uri: TargetField,
    },
    { additionalProperties: false },
  ),
  answers: { 302: RedirectSchema },
  errorAnswer: signInRefusal,
  errors: ['not_found', 'provider_unavailable', 'too_many_requests'],
  handle: async (call) => {
    const { organization_id: id, redirect_uri: wanted } = call.query as Record<string, string>;
    const target = targetOf(call.services.config.current, wanted);
    const organizationId = existingId(organization, id ?? '');
    const { settings, intent } = await countedAsGuess(call, {
      key: 'sso-guess',
      tooMany: 'Too many organizations were tried',
      find: () => organizationProvider(call, organizationId),
    });
    return redirect(call, await beginFlow(call, settings, { ...intent, purpose: 'sign-in', target, session: null }));
  },
});

export const singleSignOnCallback = defineRoute({
  method: 'GET',
  url: '/v1/sso/callback',
  operationId: 'completeSingleSignOn',
  tag: 'Single sign-on',
  summary: 'Return from the provider of an organization',
  description:
    'The provider sends the browser here. Begins a session that is valid only in the organization. A person with a verified address of an allowed domain, proven by its DNS record, becomes a member, and gets an account if the address has none. If the organization requires a second factor, that person becomes a member but the sign-in is refused: they set a password (POST /v1/forgot-password), then set up the factor. Other people who are not members are refused with provider_sign_in_failed; the response does not reveal whether an address has an account.',
  access: 'public',
  limitClass: 'flow',
  query: CallbackQuery,
  answers: { 302: RedirectSchema },
  // It uses up the state in a transaction of its own, and asks the provider.
  runsOnce: true,
  errorAnswer: signInRefusal,
  errors: [...callbackErrors, 'unauthenticated', 'second_factor_required'],
  handle: async (call) => {
    const opened = await takeState(call, 'single_sign_on');
    const isTest = opened.purpose === 'test';
    const { row, settings, intent } = await organizationProvider(call, opened.organizationId ?? '', { isTest });
    // The code and its verifier are for the provider of then: another one must not learn them (RFC 9700, section 4.4).
    if (opened.settings !== intent.settings) throw failed(settingsChanged);
    const identity = await identityOf(call, settings, opened);
    if (opened.purpose !== 'sign-in') return linkOrTest(call, opened, identity, row);
    const signedOn = { identity, provider: row };
    await admitNewcomer(call, signedOn);
    const member = await memberOf(call.unit, signedOn);
    return finishSignIn(call, opened.target, {
      ...member,
      method: 'single_sign_on',
      signOn: {
        singleSignOnId: row.organizationId,
        singleSignOnRevision: row.revision,
        singleSignOnMembershipId: await decidingMembership(call.unit, member.userId, row.organizationId),
      },
    });
  },
});

const settingsChanged = 'the settings of the single sign-on have changed since it began';

/** Links the identity to the account of the session that asked for it; a test also applies to the settings of that time. */
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
  await linkIdentity(call.unit, data, person.id, identity, realmOf(row));
  if (opened.purpose === 'test') {
    const held = await data.findLocked(identityProvider, row.id);
    if (!held || providerDigest(held) !== opened.settings || !isManager(role)) throw failed(settingsChanged);
    await data.update(identityProvider, row.id, { testedAt: call.services.clock.now() });
  }
  return redirect(call, opened.target);
}
