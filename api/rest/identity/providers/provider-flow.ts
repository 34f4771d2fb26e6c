import { hash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import type { Config } from '#config/objects/root.ts';
import { session } from '#entities/identity/session.ts';
import { user } from '#entities/identity/user.ts';
import { AppError, type ErrorCode } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { stateCookie, stateCookieName } from '../../../auth/cookie-attributes.ts';
import { stateLifetimeMs, type OpenedState, type SignInState } from '../../../auth/sign-in-state.ts';
import { failed, type ProviderIdentity, type ProviderSettings } from '../../../auth/sign-in-providers.ts';
import { giveCookie } from '../../../http/plugins/cookies.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call, RouteResponse } from '../../../http/route.ts';
import { pagePaths } from '../../../pages/page-paths.ts';

/** Purpose of a sign-in at a provider. */
type Intent = Omit<SignInState, 'state' | 'nonce' | 'verifier'>;

const text = (description: string, maxLength: number) => Type.Optional(Type.String({ maxLength, description }));

/** Parameters with which a provider sends a browser back (RFC 6749, section 4.1.2; RFC 9207). Providers may add others. */
export const CallbackQuery = Type.Object(
  {
    code: text('Code that is exchanged for the identity.', 4_096),
    state: text('State of the request.', 512),
    iss: text('Issuer.', 1_024),
    error: text('Why the provider refused.', 256),
  },
  { additionalProperties: true },
);

/** Errors of every callback. */
export const callbackErrors = [
  'not_found',
  'provider_sign_in_failed',
  'provider_unavailable',
  'identity_not_linked',
  'already_exists',
  'too_many_requests',
  'invalid_credentials',
  'single_sign_on_required',
] as const satisfies readonly ErrorCode[];

export const RedirectSchema = Type.Object(
  {
    location: Type.String({ description: 'URL to which the browser goes; also in the header Location.' }),
  },
  { title: 'Redirect' },
);

/** The parameter of a request that begins a sign-in at a provider. */
export const TargetField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 2_048,
    description:
      'URL to which the browser goes at the end: a path, or a URL of the origin of auth.providers.redirecturl or of this server. Default: auth.providers.redirecturl, without it the page /v1/login.',
  }),
);

/** Begins a sign-in at a provider: binds it to this browser, and returns the URL to which the browser goes. */
export async function beginFlow(
  { request, services }: Call<unknown>,
  settings: ProviderSettings,
  intent: Intent,
): Promise<string> {
  const { url, ...secrets } = await services.signInProviders.begin(settings);
  const config = services.config.current;
  const sealed = await services.signInStates.seal({ ...intent, ...secrets });
  giveCookie(request, stateCookieName(config), sealed, stateCookie(config, stateLifetimeMs / 1_000));
  return url;
}

/**
 * The state of the browser that comes back to a callback, which is valid once. The cookie is deleted, whatever becomes of the sign-in.
 * @throws AppError provider_sign_in_failed
 */
export async function takeState(call: Call<unknown>, provider: SignInState['provider']): Promise<OpenedState> {
  const { code, error } = call.query as Static<typeof CallbackQuery>;
  const opened = await takeStateCookie(call, provider, stateCookieName(call.services.config.current));
  if (error !== undefined || code === undefined) throw failed('it was cancelled there or refused');
  return opened;
}

/** The same for a flow with a cookie of its own, whose answer need not have a code. */
export async function takeStateCookie(
  call: Call<unknown>,
  provider: SignInState['provider'],
  name: string,
): Promise<OpenedState> {
  const { request, services } = call;
  const { code, state } = call.query as Static<typeof CallbackQuery>;
  const config = services.config.current;
  const cookie = request.cookies[name];
  giveCookie(request, name, '', { ...stateCookie(config, 0), expires: new Date(0) }, { isForRefusals: true });
  const opened = cookie === undefined ? undefined : await services.signInStates.open(cookie);
  if (!opened || opened.provider !== provider || state !== opened.state)
    throw failed('it was not begun in this browser, or more than ten minutes ago');
  await services.database.transact(workOf(request.core, systemCaller('provider sign-in')), async (unit) => {
    // A cookie can be copied, and a provider may accept a code again: neither is valid twice, however many come at once.
    const used = [
      `sign-in-state:${hash('sha256', opened.state)}`,
      ...(code ? [`sign-in-code:${hash('sha256', code)}`] : []),
    ];
    const keys = used.map((key) => ({ key, limit: 1 }));
    if (await takeAttempt(unit, keys, 2 * stateLifetimeMs)) throw failed('it has been finished already');
  });
  return opened;
}

/** The identity that the provider vouches for. Asks the provider, so no transaction may have begun. */
export function identityOf(
  call: Call<unknown>,
  settings: ProviderSettings,
  opened: OpenedState,
): Promise<ProviderIdentity> {
  const query = call.query as Static<typeof CallbackQuery>;
  const answer = new URLSearchParams();
  for (const name of ['code', 'state', 'iss'] as const) {
    const value = query[name];
    if (value !== undefined) answer.set(name, value);
  }
  return call.services.signInProviders.finish(settings, answer, opened, opened.begunAt);
}

/**
 * The person of the session that began a flow, if the session is still there. Both stay locked.
 * @throws AppError provider_sign_in_failed
 */
export async function sessionOf(data: DataClient, { session: begun }: OpenedState): Promise<RowOf<typeof user>> {
  const person = begun && (await data.findLocked(user, begun.userId));
  const held = begun && (await data.findLocked(session, begun.sessionId));
  if (person?.status !== 'active' || held?.userId !== person.id) throw failed('the session that began it has ended');
  return person;
}

export function redirect({ reply }: Call<unknown>, location: string): RouteResponse {
  void reply.header('location', location).header('cache-control', 'no-store');
  return { status: 302, body: { location } };
}

/**
 * Where the browser goes at the end: to a page of the configured origin, or of this server.
 * @param wanted a path or a URL
 * @throws AppError invalid_input for another origin
 */
export function targetOf(config: Config, wanted?: string): string {
  const signInPage = publicApiUrl(config) + pagePaths.signIn;
  const target = config.auth.providers.redirecturl || signInPage;
  if (wanted === undefined) return target;
  const url = URL.canParse(wanted, target) ? new URL(wanted, target) : undefined;
  const origins = [...new Set([target, signInPage].map((each) => new URL(each).origin))];
  if (url !== undefined && origins.includes(url.origin) && url.username === '' && url.password === '') return url.href;
  const message = `must be a path or a URL of ${origins.join(' or ')}`;
  throw new AppError('invalid_input', `redirect_uri ${message}.`, {
    details: { fields: [{ path: '/redirect_uri', message }] },
  });
}
