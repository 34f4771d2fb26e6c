import { isId } from '../base/ids.ts';
import { productModules, type ProductModule } from './product-modules.ts';
import type { TupleCondition } from './tuples.ts';

/** Organization roles, from most to least powerful; the auditor looks at everything that is not given record by record. */
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
  /** Groups of `organizationId` that the caller belongs to. */
  readonly groupIds: readonly string[];
  /** Relations to `organizationId` that the caller, or a group of theirs, was given besides the role: scopes, rights to create. */
  readonly relations: readonly string[];
  /** Product modules that the organization may use. */
  readonly productModules: readonly ProductModule[];
  /** Kinds about whose records the organization says nothing; see `authz.enableparentcontext`. */
  readonly outOfContext: readonly string[];
  /** Conditions under which the organization counts for records of the other kinds; see `authz.parentcontextconditions`. */
  readonly contextConditions: Readonly<Record<string, TupleCondition>>;
  /** Id of the access token, for logs and revocation. */
  readonly tokenId: string | null;
  /** Why system work runs; empty for everybody else. */
  readonly reason: string;
}

const nobody = {
  kind: 'anonymous',
  subjectId: null,
  organizationId: null,
  role: null,
  groupIds: [],
  relations: [],
  productModules: [],
  outOfContext: [],
  contextConditions: {},
  tokenId: null,
  reason: '',
} as const satisfies Caller;

export const anonymousCaller: Caller = Object.freeze(nobody);

/** A person or an API token at work; what is not given it does not have. */
export function callerOf(known: Pick<Caller, 'kind' | 'subjectId'> & Partial<Caller>): Caller {
  return Object.freeze({ ...nobody, ...known });
}

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
  return callerOf({ kind: 'system', subjectId: null, organizationId, productModules, reason });
}

/** The database role that a caller's statements run under. */
export function databaseRoleOf({ kind }: Caller): 'app' | 'system' {
  return kind === 'system' ? 'system' : 'app';
}

/** How a caller is written into history, events and logs: `user:<id>`, `system:<reason>`, `anonymous`. */
export function actorOf(caller: Caller): string {
  if (caller.kind === 'system') return `system:${caller.reason}`;
  return caller.subjectId === null ? caller.kind : [caller.kind, caller.subjectId].join(':');
}
