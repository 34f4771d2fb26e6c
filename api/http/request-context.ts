import type { FastifyRequest } from 'fastify';
import { anonymousCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { AccessClaims } from '../auth/access-token.ts';
import type { PendingCookie } from './plugins/cookies.ts';

/** What every part of the server knows of the request it works for. */
export interface RequestContext {
  readonly requestId: string;
  /** W3C `traceparent` of the request's own span. */
  traceparent: string;
  /** When the answer must have left, in milliseconds of the epoch. */
  readonly deadline: number;
  caller: Caller;
  /** Claims of the access token that came along, whatever its person may do now. */
  token: AccessClaims | undefined;
  /** Claims of the access token, when it is the caller's. */
  claims: AccessClaims | undefined;
  /** `sid` of the access token that came along, also when its person may not act any more; CSRF tokens are bound to it. */
  sessionId: string;
  /** The request's unit of work, once something asked for it. */
  unit: UnitOfWork | undefined;
  /** What the answer will set, if it is not a refusal. */
  cookies: readonly PendingCookie[];
}

/**
 * Who may ask: `nobody`: the same answer for all, so that nobody looks at the caller; `public`: anybody; `required`: refused
 * with 401 without a signed-in caller.
 */
export type Access = 'anonymous' | 'public' | 'required';

declare module 'fastify' {
  interface FastifyRequest {
    core: RequestContext;
  }
  interface FastifyContextConfig {
    readonly access?: Access;
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
    token: undefined,
    claims: undefined,
    sessionId: '',
    unit: undefined,
    cookies: [],
  };
}
