import { isId } from './ids.ts';

/** Organization roles, from most to least powerful; the auditor reads and comments only. */
export const roles = ['owner', 'super_admin', 'admin', 'member', 'auditor'] as const;
export type Role = (typeof roles)[number];

export type CallerKind = 'user' | 'api_token' | 'support' | 'anonymous' | 'system';

/**
 * On whose behalf work is done. Every unit of work has exactly one; nothing in the data layer runs without it
 * (specification, Authorization rule 4).
 */
export interface Caller {
  readonly kind: CallerKind;
  /** User id, token id or, for system work, a constant name. Null for anonymous callers. */
  readonly subjectId: string | null;
  /** The organization the caller acts in. Tenant queries return nothing without it. */
  readonly organizationId: string | null;
  /** Role in `organizationId`. */
  readonly role: Role | null;
  /** Id of the access token, for logs and revocation. */
  readonly tokenId: string | null;
  /** Why system work runs; empty for everybody else. */
  readonly reason: string;
}

export const anonymousCaller: Caller = Object.freeze({
  kind: 'anonymous',
  subjectId: null,
  organizationId: null,
  role: null,
  tokenId: null,
  reason: '',
});

/**
 * The caller of relay, sweeps, listeners and credential look-ups. Scoped to one organization when given, which is then
 * enforced like anybody else's.
 * @param reason a short constant phrase; it is logged and stands in history as the actor.
 */
export function systemCaller(reason: string, organizationId: string | null = null): Caller {
  if (organizationId !== null && !isId(organizationId)) {
    throw new TypeError(
      `system caller for "${reason}" got ${JSON.stringify(organizationId)}, which is not an organization id`,
    );
  }
  return Object.freeze({ kind: 'system', subjectId: null, organizationId, role: null, tokenId: null, reason });
}

/** How a caller is written into history, events and logs: `user:<id>`, `system:<reason>`, `anonymous`. */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'system') return `system:${caller.reason}`;
  return caller.subjectId === null ? caller.kind : [caller.kind, caller.subjectId].join(':');
}
