import type { FastifyRequest } from 'fastify';
import { AssumedPrincipal } from '#entities/kit/access/assumed-principal.ts';
import {
  callerIn,
  callerOfDelegation,
  callerOfToken,
  readPrincipalState,
  type PrincipalSnapshot,
  type PrincipalState,
} from '#entities/kit/access/principal-state.ts';
import { AppError, isAppError } from '#entities/kit/base/errors.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { seePage } from '#entities/kit/model/module-gate.ts';
import { isLapsed } from '#entities/kit/access/entitled.ts';
import { hasSignedOn } from '#entities/kit/model/confinement.ts';
import type { AccessClaims } from '../auth/access-token.ts';
import type { PresentedToken } from '../auth/api-tokens.ts';
import type { DelegationClaims } from '../auth/delegation-token.ts';
import { signInFirst } from './plugins/sign-in-first.ts';
import type { RequestContext } from './request-context.ts';
import type { Services } from './services.ts';

export type Token = AccessClaims | PresentedToken | DelegationClaims;

/** The state of callers as of their last request, by what `AccessTokens` and `ApiTokens` keep of their token. */
const lastSnapshots = new WeakMap<Token, PrincipalSnapshot>();

/**
 * Finds out on whose behalf a request runs. User, session and membership come from the database for every request, so that
 * changes take effect at once. Where the handler can be repeated, the state as of the last request is assumed, and the first
 * statement of the handler confirms it.
 * @throws AppError unauthenticated, permission_denied, second_factor_required
 */
export async function findCaller(request: FastifyRequest, services: Services): Promise<void> {
  const { token } = request.core;
  const known = token && request.routeOptions.config.isRepeatable ? lastSnapshots.get(token) : undefined;
  if (!token || !known || isRefused(request, token, known.state, services)) return findCallerAgain(request, services);
  await setCaller(request, services, token, known);
  request.core.assumption = new AssumedPrincipal(token, known, services.database);
}

/** Reads the state of the caller and assumes nothing. @throws AppError unauthenticated, permission_denied, second_factor_required */
export async function findCallerAgain(request: FastifyRequest, services: Services): Promise<void> {
  const { core } = request;
  core.assumption = undefined;
  core.claims = undefined;
  core.lacksSecondFactor = false;
  core.caller = anonymousCaller;
  if (core.token) {
    const identified = identify(request, services, core.token);
    // The user of a link does not learn whether it was the session or the right that ended.
    const isOptional = request.headers.authorization === undefined || core.wanted?.isLinked;
    await (isOptional ? unlessStale(identified) : identified);
  }
  if (isRequired(request) && core.caller === anonymousCaller) throw signInFirst();
  if (hasSignedOn(core.caller) && !request.routeOptions.config.acceptsSingleSignOn) throw beyondSingleSignOn();
  if (core.lacksSecondFactor && !request.routeOptions.config.allowsMissingFactor) throw secondFactorRequired();
}

/**
 * Before a response that does not come from a handler that can be repeated, such as an error of the validation: whoever has lost the
 * access learns only that. @throws AppError unauthenticated
 */
export async function recheckCaller(request: FastifyRequest, services: Services): Promise<void> {
  // Requests that are refused at once have no context.
  if ((request.core as RequestContext | undefined)?.assumption) await findCallerAgain(request, services);
}

/** Whether the caller is in truth who was assumed. Reads the state if no statement of the handler has confirmed it. */
export async function isCallerConfirmed({ core }: FastifyRequest, services: Services): Promise<boolean> {
  const { assumption, token } = core;
  core.assumption = undefined;
  if (!assumption || !token) return true;
  if (assumption.outcome === 'unknown') {
    const { text } = await readPrincipalState(services.database, token, core);
    assumption.compare(text);
  }
  return assumption.outcome === 'confirmed';
}

/** The error for a member who has to set up a second factor before they act in the organization. */
export function secondFactorRequired(): AppError {
  return new AppError(
    'second_factor_required',
    'This organization requires a second factor, and you have none. Set one up with POST /v1/2fa/setup, or switch to another organization with POST /v1/switch.',
  );
}

/** The error for a session of single sign-on that wants something beyond its organization. */
export function beyondSingleSignOn(): AppError {
  return new AppError(
    'permission_denied',
    'This session was started by the single sign-on of an organization and is valid only there. Sign in in another way to do this (POST /v1/login).',
  );
}

export function isRequired(request: FastifyRequest): boolean {
  return request.routeOptions.config.access === 'required';
}

/** A stale cookie is not an error: browsers send it to public routes, too. */
export async function unlessStale(attempt: Promise<void>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!isAppError(error) || error.code !== 'unauthenticated') throw error;
  }
}

/** Reads the state of the caller. */
async function identify(request: FastifyRequest, services: Services, token: Token): Promise<void> {
  const { wanted } = request.core;
  const snapshot = await readPrincipalState(services.database, token, request.core, wanted?.columns);
  if (wanted) wanted.row = snapshot.further;
  await acceptState(request, services, token, snapshot);
}

/**
 * The one place that decides, by the current state of its caller, whether a token is valid: makes the caller of a request whoever the token
 * stands for in this state. @throws AppError unauthenticated, subscription_inactive
 */
export async function acceptState(
  request: FastifyRequest,
  services: Services,
  token: Token,
  snapshot: PrincipalSnapshot,
): Promise<void> {
  const { isActive, isSignedIn, role } = snapshot.state;
  const isDefault = services.defaultCaller?.is(token) ?? false;
  if (!isActive || !(isSignedIn || isDefault) || isExpired(snapshot.state, services)) {
    lastSnapshots.delete(token);
    if (isDefault) services.defaultCaller?.forget();
    throw new AppError(
      'unauthenticated',
      'sessionId' in token
        ? 'The access token is not valid or has expired; sign in again.'
        : `The token is not valid: it does not exist, has ended, was revoked or has expired, its person or organization has no access, or it is not authorized for the single sign-on that the organization enforces.${headerHint(request)}`,
    );
  }
  lastSnapshots.set(token, snapshot);
  if ('sort' in token) services.apiTokens.keep(token);
  if (isInactive(request, token, snapshot.state, services)) throw subscriptionInactive(services);
  await setCaller(request, services, token, snapshot);
  if (isDefault && role === null) services.defaultCaller?.forget();
}

/** Header with the organization in which a personal token acts, of several; access tokens say it themselves. */
export const organizationHeader = 'x-organization-id';

function headerHint({ headers }: FastifyRequest): string {
  return headers[organizationHeader] === undefined
    ? ''
    : ' The header X-Organization-ID must name an organization in which the token is valid.';
}

/** Whether the request is refused unless the state has changed. */
function isRefused(request: FastifyRequest, token: Token, state: PrincipalState, services: Services): boolean {
  return (
    state.lacksSecondFactor ||
    isExpired(state, services) ||
    isBeyond(request, state) ||
    isInactive(request, token, state, services)
  );
}

/** Whether the token is an API token of an organization that pays nothing any more. Routes that take no tokens refuse it for that. */
function isInactive(
  { routeOptions }: FastifyRequest,
  token: Token,
  state: PrincipalState,
  { config }: Services,
): boolean {
  return (
    'sort' in token && token.sort === 'api' && !!routeOptions.config.acceptsTokens && isLapsed(state, config.current)
  );
}

function subscriptionInactive({ config }: Services): AppError {
  const { paymentbillingportalsuccessurl: billingPage } = config.current.subscription;
  return new AppError(
    'subscription_inactive',
    `The subscription of the organization has ended, so its API tokens do not work.${seePage({ billingPage })}`,
  );
}

/** Whether a route is not for sessions that began with single sign-on, and the session of the request did. */
function isBeyond({ routeOptions: { config } }: FastifyRequest, { singleSignOnId }: PrincipalState): boolean {
  return singleSignOnId != null && !config.acceptsSingleSignOn;
}

export function isExpired({ token, delegation }: PrincipalState, { clock, config }: Services): boolean {
  if (delegation?.type === 'support' && !config.current.auth.supportaccess.enabled) return true;
  const { expiresAt = null } = token ?? delegation ?? {};
  return expiresAt !== null && new Date(expiresAt) <= clock.now();
}

async function setCaller(
  request: FastifyRequest,
  services: Services,
  token: Token,
  { state }: PrincipalSnapshot,
): Promise<void> {
  const { core } = request;
  // For what everybody may do, nobody has to be known.
  if (isBeyond(request, state) && !isRequired(request)) return;
  core.lacksSecondFactor = state.lacksSecondFactor;
  const context = await services.contextOfCallers();
  if ('sessionId' in token) {
    const { userId, tokenId, sessionId, organizationId } = token;
    const { singleSignOnId = null } = state;
    // A caller who has not signed in has no session to continue with.
    core.claims = services.defaultCaller?.is(token) ? undefined : token;
    core.caller = callerIn(userId, organizationId, state, { tokenId, sessionId, singleSignOnId, ...context });
  } else if ('delegationId' in token)
    core.caller = callerOfDelegation(services.database.options.registry, state, context);
  else core.caller = callerOfToken(token, state, context);
}
