import type { FastifyRequest } from 'fastify';
import { anonymousCaller, type Caller } from '#entities/kit/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit-of-work.ts';
import type { AccessClaims } from './auth/access-token.ts';
import type { PendingCookie } from './plugins/cookies.ts';

/** What every part of the server knows of the request it works for. */
export interface RequestContext {
  readonly requestId: string;
  /** W3C `traceparent` of the request's own span. */
  traceparent: string;
  /** When the answer must have left, in milliseconds of the epoch. */
  readonly deadline: number;
  caller: Caller;
  /** Claims of the access token, when one was presented. */
  claims: AccessClaims | undefined;
  /** Whether a cookie served as credential; only then a CSRF token is needed. */
  isCookieCredential: boolean;
  /** The request's unit of work, once something asked for it. */
  unit: UnitOfWork | undefined;
  /** What the answer will set, if it is not a refusal. */
  cookies: readonly PendingCookie[];
}

declare module 'fastify' {
  interface FastifyRequest {
    core: RequestContext;
  }
  interface FastifyContextConfig {
    /** `required`: refused with 401 without a signed-in caller. */
    readonly access?: 'public' | 'required';
    /** CSRF is checked on mutating methods unless a route is a signed receiver. */
    readonly csrf?: false;
    /** Answered while the process stops, too. */
    readonly whileStopping?: boolean;
  }
}

export function newRequestContext(request: FastifyRequest, traceparent: string, timeoutMs: number): RequestContext {
  return {
    requestId: request.id,
    traceparent,
    deadline: Date.now() + timeoutMs,
    caller: anonymousCaller,
    claims: undefined,
    isCookieCredential: false,
    unit: undefined,
    cookies: [],
  };
}
