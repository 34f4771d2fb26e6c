import { isId } from '../base/ids.ts';
import { productModules, type ProductModule } from './product-modules.ts';
import type { TupleCondition } from './tuples.ts';

/** Organization roles, from most to least powerful. An auditor views the records of all kinds whose rights are not granted per record, and changes none (policy.ts). */
export const roles = ['owner', 'super_admin', 'admin', 'member', 'auditor'] as const;
export type Role = (typeof roles)[number];

/** Whether whoever has a role may give another one: nobody gives more than they have. API tokens have no role and give the lowest ones. */
export function mayGiveRole(held: Role | null, given: Role): boolean {
  return rankOf(given) >= (held === null ? rankOf('member') : rankOf(held));
}

/** 0 for the most powerful role; member and auditor are equal. */
function rankOf(role: Role): number {
  return Math.min(roles.indexOf(role), roles.indexOf('member'));
}

/** Traits that follow from the kind of a caller alone. */
interface CallerTraits {
  readonly databaseRole: 'app' | 'system';
  /** Whether it is somebody with a seat in the organization: rules for people who are signed in apply. */
  readonly isPerson: boolean;
  /** Type of its subject in the authorization store; null: it has no rights to single records. */
  readonly subjectType: 'user' | 'service' | null;
  /** Whether it reaches only kinds that `limits` name. Without limits it then reaches none. */
  readonly needsLimits: boolean;
}

/**
 * Every kind of caller and what it can do. `user`: a person, or somebody who acts for them. `support`: the identity of
 * `auth.supportaccess`. `assessment` and `nda_request`: visitors who hold a link, who reach only kinds that say so (`openTo`).
 */
export const callerKinds = {
  user: { databaseRole: 'app', isPerson: true, subjectType: 'user', needsLimits: false },
  api_token: { databaseRole: 'app', isPerson: false, subjectType: 'service', needsLimits: false },
  support: { databaseRole: 'app', isPerson: true, subjectType: 'user', needsLimits: true },
  assessment: { databaseRole: 'app', isPerson: false, subjectType: null, needsLimits: true },
  nda_request: { databaseRole: 'app', isPerson: false, subjectType: null, needsLimits: true },
  anonymous: { databaseRole: 'app', isPerson: false, subjectType: null, needsLimits: false },
  system: { databaseRole: 'system', isPerson: false, subjectType: null, needsLimits: false },
} as const satisfies Readonly<Record<string, CallerTraits>>;

export type CallerKind = keyof typeof callerKinds;

/** Visitors without an account. */
export const visitorKinds = ['assessment', 'nda_request'] as const satisfies readonly CallerKind[];
export type VisitorKind = (typeof visitorKinds)[number];

export const delegationTypes = ['support', 'impersonation'] as const;

/** Why somebody acts as somebody else: a record of the kind `delegation`. */
export interface Delegation {
  readonly id: string;
  readonly type: (typeof delegationTypes)[number];
  /** Id of the person who acts, or `auth.supportaccess.subjectid`. */
  readonly actorId: string;
  readonly actorName: string;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * The person, API token or part of the server on whose behalf work is done. Every unit of work has exactly one; nothing in the
 * data layer runs without it.
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
  /** Relations to `organizationId` that were granted to the caller or to one of its groups, besides the role: scopes and creation rights. */
  readonly relations: readonly string[];
  /**
   * The relations (scopes) beyond which the credential of the caller gives no right: of tokens, of delegations, and of visitors. Null:
   * the caller has all its rights, unless its kind needs limits.
   */
  readonly limits: readonly string[] | null;
  /** Set while the caller is somebody else who acts as `subjectId`. */
  readonly delegation: Delegation | null;
  /** Product modules that the organization may use. */
  readonly productModules: readonly ProductModule[];
  /** Whether the organization needs a payment method, which it lacks, for what a kind or an action says (`needsPaymentMethod`). */
  readonly needsPaymentMethod: boolean;
  /** URL of the page on which people see and change the plan of the organization; null while there is no billing. */
  readonly billingPage: string | null;
  /** Kinds whose records do not inherit rights from the organization; see `authz.enableparentcontext`. */
  readonly outOfContext: readonly string[];
  /** Conditions under which records of the other kinds inherit rights from the organization; see `authz.parentcontextconditions`. */
  readonly contextConditions: Readonly<Record<string, TupleCondition>>;
  /**
   * Ids of the versions of workflow definitions that hold changes in the organization, sorted; null for a caller who was made without
   * knowing them.
   */
  readonly gates: readonly string[] | null;
  /** Id of the access token or personal token, for logs. */
  readonly tokenId: string | null;
  /** Id of the session of a person who is signed in. */
  readonly sessionId: string | null;
  /**
   * The organization whose single sign-on began the session. The caller then has no rights beyond that organization and its parts, not
   * even those of a person to what is their own (confinement.ts). Null for other callers.
   */
  readonly singleSignOnId: string | null;
  /** Why system work runs; empty for other callers. */
  readonly reason: string;
}

const noCaller = {
  kind: 'anonymous',
  subjectId: null,
  organizationId: null,
  role: null,
  groupIds: [],
  relations: [],
  limits: null,
  delegation: null,
  productModules: [],
  needsPaymentMethod: false,
  billingPage: null,
  outOfContext: [],
  contextConditions: {},
  gates: null,
  tokenId: null,
  sessionId: null,
  singleSignOnId: null,
  reason: '',
} as const satisfies Caller;

export const anonymousCaller: Caller = Object.freeze(noCaller);

/** A caller with the given properties; all others are empty. */
export function callerOf(known: Pick<Caller, 'kind' | 'subjectId'> & Partial<Caller>): Caller {
  return Object.freeze({ ...noCaller, ...known });
}

/** Id of the API token that the caller is, or of the personal token that limits the rights of a person; null for a session. */
export function limitingToken({ kind, limits, delegation, tokenId }: Caller): string | null {
  if (kind === 'api_token') return tokenId;
  return kind === 'user' && limits !== null && delegation === null ? tokenId : null;
}

/**
 * The caller of the relay, sweeps, listeners and credential look-ups.
 * @param reason a short constant phrase; it is logged, and the history names it as the actor
 * @param organizationId limits the work to this organization, enforced by row-level security as for other callers
 * @throws TypeError when it is not an id
 */
export function systemCaller(reason: string, organizationId: string | null = null): Caller {
  if (organizationId !== null && !isId(organizationId)) {
    throw new TypeError(
      `system caller for "${reason}" got ${JSON.stringify(organizationId)}, which is not an organization id`,
    );
  }
  return callerOf({ kind: 'system', subjectId: null, organizationId, productModules, reason });
}

export function databaseRoleOf({ kind }: Caller): 'app' | 'system' {
  return callerKinds[kind].databaseRole;
}

/**
 * The person whose own rows row-level security opens besides those of the organization. None for whoever acts for a person: the delegation
 * is valid in one organization, and the rows of the person alone do not belong to it.
 */
export function ownerOfRows({ kind, subjectId, delegation }: Caller): string | null {
  return kind === 'user' && delegation === null ? subjectId : null;
}

/**
 * How a caller is written into history, events and logs: `user:<id>`, `system:<reason>`, `anonymous`, and for a person as whom another
 * one acts `user:<id> by user:<id>`.
 */
export function actorOf(caller: Caller): string {
  const { kind, subjectId, delegation } = caller;
  if (kind === 'system') return `system:${caller.reason}`;
  const own = subjectId === null ? kind : [kind, subjectId].join(':');
  return delegation?.type === 'impersonation' ? `${own} by user:${delegation.actorId}` : own;
}

/** Actors of backfills and undone deletions: history has their changes, and no events announce them. Custom events that they emit are recorded. */
export const silentActors: ReadonlySet<string> = new Set(['system:backfill', 'system:undelete organization']);

/** The id of the person of an actor (`actorOf`), also while somebody else acts as them, as a list of one; empty for other actors. */
export function personIn(actor: string): string[] {
  const [, id] = /^user:(\S+)/.exec(actor) ?? [];
  return id === undefined ? [] : [id];
}

/** The id of the API token of an actor that is one; null for other actors. */
export function tokenIn(actor: string): string | null {
  return /^api_token:(\S+)/.exec(actor)?.[1] ?? null;
}
