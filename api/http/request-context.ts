import type { FastifyRequest } from 'fastify';
import { anonymousCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { HttpRequest, WorkContext } from '#entities/kit/model/work-context.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import type { WorkSpan } from '#entities/kit/base/trace.ts';
import type { AssumedPrincipal } from '#entities/kit/access/assumed-principal.ts';
import type { WantedObject } from '#entities/kit/objects/wanted-object.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { AccessClaims } from '../auth/access-token.ts';
import type { PresentedToken } from '../auth/api-tokens.ts';
import type { DelegationClaims } from '../auth/delegation-token.ts';
import type { KeyedRequest } from './idempotent-requests.ts';
import type { LimitClass } from './limits/rate-limits.ts';
import type { PendingCookie } from './plugins/cookies.ts';

/** Data of a request that all layers use. */
export interface RequestContext {
  readonly requestId: string;
  readonly span: WorkSpan | undefined;
  /** W3C `traceparent` of the request's own span. */
  traceparent: string;
  /** Parts of the request that its events record; undefined where no route answers. */
  readonly recorded: HttpRequest | undefined;
  /** When the response must have been sent, in milliseconds since the epoch. It begins anew after a body that is received as a stream. */
  deadline: number;
  caller: Caller;
  /**
   * Verified claims of an access token, whose user may have been deactivated since, or of the token of a delegation, which may have
   * ended; or an API token or a personal token, of which only the database knows whether it exists.
   */
  token: AccessClaims | PresentedToken | DelegationClaims | undefined;
  /** Claims of the access token, once the user is known to be active; only people who are signed in have some. */
  claims: AccessClaims | undefined;
  /** Whether the organization of the token requires a second factor that the caller does not have; the caller then acts in no organization. */
  lacksSecondFactor: boolean;
  /** The state of the caller while it is only assumed (`request-caller.ts`). No response is sent before it is confirmed. */
  assumption: AssumedPrincipal | undefined;
  /** The stored object that the request is about; it is read with the state of the caller. */
  wanted: WantedObject | undefined;
  /** Why the request could not be repeated: the caller has lost the access. It replaces the response of the handler. */
  refusal: AppError | undefined;
  /** `sid` of the access token, even if its user is no longer active; CSRF tokens are bound to it. */
  sessionId: string;
  /** The request's unit of work, created on first use. */
  unit: UnitOfWork | undefined;
  /** Another form of errors, for an address that no route has. */
  errorForm: ((error: AppError) => ErrorAnswer | undefined) | undefined;
  /** Set when the answer is kept for requests with the same `Idempotency-Key`. */
  keyed: KeyedRequest | undefined;
  /** Whether the response is a stream that continues for as long as its client wants: its duration says nothing about the server. */
  isEndless: boolean;
  /** Whether the response has the bytes of a file: its client may take as long as it needs, while it takes some. */
  isDownload: boolean;
  /** Cookies to set with a successful response. */
  cookies: readonly PendingCookie[];
}

/**
 * Callers that a route accepts. `anonymous`: everybody; the caller is never looked up. `public`: everybody; a signed-in caller is looked
 * up. `required`: only signed-in callers, others get 401.
 */
export type Access = 'anonymous' | 'public' | 'required';

/** An error response that is no problem document. */
export interface ErrorAnswer {
  readonly type: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

declare module 'fastify' {
  interface FastifyRequest {
    core: RequestContext;
  }
  interface FastifyContextConfig {
    readonly access?: Access;
    /** Parts of its requests that events record. */
    readonly recorded?: HttpRequest;
    /** Whether the route also answers callers who lack a second factor that their organization requires. */
    readonly allowsMissingFactor?: boolean;
    /** False for routes that verify a signature of the sender; all other mutating routes check the CSRF token. */
    readonly csrf?: false;
    /** Whether the route is also answered while the process stops. */
    readonly whileStopping?: boolean;
    /** Whether API tokens, personal tokens, and whoever acts as somebody else may call the route; they are refused elsewhere, unless nobody is looked up. */
    readonly acceptsTokens?: boolean;
    /** Whether sessions of an organization's single sign-on may call the route; elsewhere they are refused, or are anonymous. */
    readonly acceptsSingleSignOn?: boolean;
    /** The handler runs again if the assumed state of its caller is not confirmed (`repeatRequest`). */
    readonly isRepeatable?: boolean;
    /** Media types of the body that the route reads as it arrives; JSON everywhere else. */
    readonly receives?: readonly string[];
    /** Limit of the route besides those of `ratelimit.options`. */
    readonly limitClass?: LimitClass;
    /** The route speaks the protocol tus: always, or to clients that say so. */
    readonly tus?: 'required' | 'optional';
    /** Headers of every answer of a deprecated operation. */
    readonly deprecation?: readonly (readonly [name: string, value: string])[];
    /** Another form of an error response; undefined for a problem document. */
    readonly errorAnswer?: (error: AppError, request: FastifyRequest) => ErrorAnswer | undefined;
  }
}

/** @param span undefined for a request that is refused at once */
export function newRequestContext(
  request: FastifyRequest,
  span: WorkSpan | undefined,
  timeoutMs: number,
): RequestContext {
  return {
    requestId: request.id,
    span,
    traceparent: span?.traceparent ?? '',
    recorded: request.routeOptions.config.recorded,
    deadline: Date.now() + timeoutMs,
    caller: anonymousCaller,
    token: undefined,
    claims: undefined,
    lacksSecondFactor: false,
    assumption: undefined,
    wanted: undefined,
    refusal: undefined,
    sessionId: '',
    unit: undefined,
    errorForm: undefined,
    keyed: undefined,
    isEndless: false,
    isDownload: false,
    cookies: [],
  };
}

/** The context of a unit of work of a request. @param caller on whose behalf it runs; the caller of the request when left out */
export function workOf(
  { requestId, traceparent, recorded, deadline, caller: own, assumption }: RequestContext,
  caller: Caller = own,
): WorkContext {
  const isAssumed = assumption !== undefined && caller === own;
  return {
    caller,
    requestId,
    traceparent,
    deadline,
    ...(recorded ? { request: recorded } : {}),
    ...(isAssumed ? { precondition: assumption } : {}),
  };
}
