import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { pascalCase } from '#entities/kit/base/snake-case.ts';
import type { OpenedState } from '../../../auth/sign-in-state.ts';
import type { ProviderIdentity, ProviderSettings } from '../../../auth/sign-in-providers.ts';
import { defineRoute, type Call, type Route, type RouteResponse } from '../../../http/route.ts';
import { signInRefusal } from '../../../pages/error-page.ts';
import { configuredProvider, providerNames, type ProviderName } from './configured-provider.ts';
import { finishSignIn } from './finish-sign-in.ts';
import { checkNewIdentity, linkIdentity, personOfIdentity } from './person-of-identity.ts';
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
} from './provider-flow.ts';

/** Sign-in with the providers of this server. */
export const providerRoutes: readonly Route[] = providerNames.flatMap((name) => [
  beginRoute(name),
  callbackRoute(name),
]);

function beginRoute(name: ProviderName): Route {
  return defineRoute({
    method: 'GET',
    url: `/v1/${name}/login`,
    operationId: `begin${pascalCase(name)}SignIn`,
    tag: 'Account',
    summary: `Sign in with the provider ${name}`,
    description: `Sends the browser to the provider \`${name}\`, if auth.supportedproviders names it. The sign-in is bound to this browser by a cookie and must be finished within ten minutes.`,
    access: 'public',
    limitClass: 'flow',
    query: Type.Object({ redirect_uri: TargetField }, { additionalProperties: false }),
    answers: { 302: RedirectSchema },
    errorAnswer: signInRefusal,
    errors: ['not_found', 'provider_unavailable'],
    handle: async (call) => {
      const settings = settingsOf(call, name);
      const target = targetOf(call.services.config.current, call.query['redirect_uri'] as string | undefined);
      return redirect(call, await beginFlow(call, settings, { ...signIn, provider: name, target }));
    },
  });
}

const signIn = { purpose: 'sign-in', session: null, organizationId: null, settings: null } as const;

function callbackRoute(name: ProviderName): Route {
  return defineRoute({
    method: 'GET',
    url: `/v1/${name}/callback`,
    operationId: `complete${pascalCase(name)}SignIn`,
    tag: 'Account',
    summary: `Return from the provider ${name}`,
    description:
      'The provider sends the browser here. Begins a session like /v1/login, or links the identity to the account whose session began it, and sends the browser on; to people with a second factor with `challenge_token` in the fragment of the address, for /v1/2fa/validate. A verified address without an account gets a new account; an address that has one is refused with identity_not_linked.',
    access: 'public',
    limitClass: 'flow',
    query: CallbackQuery,
    answers: { 302: RedirectSchema },
    // It uses up the state in a transaction of its own, and asks the provider.
    runsOnce: true,
    errorAnswer: signInRefusal,
    errors: callbackErrors,
    handle: async (call) => {
      const settings = settingsOf(call, name);
      const opened = await takeState(call, name);
      const identity = await identityOf(call, settings, opened);
      if (opened.purpose === 'link') return link(call, opened, identity, name);
      const source = { provider: name, realm: name };
      await checkNewIdentity(call, identity, source);
      const { unit } = call;
      const data = unit.data.privileged('provider sign-in');
      const owner = await personOfIdentity(unit, data, identity, source);
      return finishSignIn(call, opened.target, { ...owner, method: 'provider' });
    },
  });
}

/** @throws AppError not_found while the provider is switched off */
export function settingsOf({ services }: Call<unknown>, name: ProviderName): ProviderSettings {
  const settings = configuredProvider(services.config.current, name);
  if (!settings)
    throw new AppError(
      'not_found',
      `This server offers no sign-in with ${name} (configuration auth.supportedproviders).`,
    );
  return settings;
}

/** Links the identity to the account of the session that asked for it, if the session is still there. */
async function link(
  call: Call<unknown>,
  opened: OpenedState,
  identity: ProviderIdentity,
  name: ProviderName,
): Promise<RouteResponse> {
  const data = call.unit.data.privileged('link identity');
  const person = await sessionOf(data, opened);
  await linkIdentity(call.unit, data, person.id, identity, { provider: name, realm: name });
  return redirect(call, opened.target);
}
