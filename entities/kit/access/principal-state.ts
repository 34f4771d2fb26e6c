import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../base/errors.ts';
import { callerOf, type Caller, type Delegation, type Role } from '../model/caller.ts';
import { whateverHeld, type Entitled, type HeldEntitlements } from './entitled.ts';
import { queryOutsideTransaction } from '../storage/one-round-trip.ts';
import type { StatementSource } from '../storage/transaction.ts';
import { relationsOfScopes } from '../model/scope-relations.ts';
import { limitsOfDelegates, type TokenSort } from '../model/scopes.ts';
import type { Registry } from '../model/registry.ts';
import type { Work } from '../storage/work.ts';

/** The ids that an access token names. */
export interface SessionPrincipal {
  readonly userId: string;
  readonly sessionId: string;
  readonly organizationId: string | null;
}

/** Part of an API token or a personal token that identifies it. */
export interface TokenPrincipal {
  readonly sort: TokenSort;
  readonly tokenId: string;
  /** Hashes of its secret by each key that verifies; one of them is that of the record. */
  readonly secretHashes: readonly string[];
  /** The organization in which the caller wants to act; null for that of the token. */
  readonly organizationId: string | null;
}

/** Claims of the token of a caller who acts as another user. */
export interface DelegationPrincipal {
  /** Id of the record of the kind `delegation`. */
  readonly delegationId: string;
  readonly organizationId: string;
}

export type Principal = SessionPrincipal | TokenPrincipal | DelegationPrincipal;

export interface PrincipalState extends MembershipState {
  /** Whether the person is active; of an API token, its organization; of a delegation, whether both sides still have the rights for it. */
  readonly isActive: boolean;
  /** Whether the session of an access token has not ended; of another token, whether it exists and its secret is right. */
  readonly isSignedIn: boolean;
  /** Of a session: the organization whose single sign-on began it; null for other ways to sign in. */
  readonly singleSignOnId?: string | null;
  /** Only of API tokens and personal tokens. */
  readonly token?: TokenState;
  /** Only of delegations: what the record says, and as whom it acts. */
  readonly delegation?: Delegation & { readonly subjectId: string; readonly organizationId: string };
}

interface TokenState {
  /** The person of a personal token; null for an API token. */
  readonly userId: string | null;
  /** The organization in which the caller acts. */
  readonly organizationId: string | null;
  readonly scopes: readonly string[];
  /** RFC 3339; null for a token that does not expire. */
  readonly expiresAt: string | null;
}

export interface MembershipState extends Pick<Caller, 'groupIds' | 'relations' | 'gates'>, HeldEntitlements {
  /** The strongest role in the organization or one of its ancestors; null for a person without a role, and for one who lacks a factor. */
  readonly role: Role | null;
  /** Whether the person is a member, but the organization or one of its ancestors requires a second factor that the person does not have. */
  readonly lacksSecondFactor: boolean;
}

/** A state with the text in which the database returned it: equal texts are equal states. */
export interface PrincipalSnapshot {
  readonly state: PrincipalState;
  readonly text: string;
  /** The values of the further columns. */
  readonly further?: Readonly<Record<string, unknown>>;
}

/** Columns that the statement for a state returns besides, so that they cost no statement of their own. */
export interface FurtherColumns {
  /** SQL of the columns. @param first number of their first parameter */
  readonly columns: (first: number) => string;
  readonly values: readonly unknown[];
}

/** The state, in each of the statements for it. */
export const resultColumn = 'to_json(found)::text as result';

const snapshotText = snapshotTextOf('$1', '$2', '$3');

/** SQL of the state of a person in a session and an organization. */
export function snapshotTextOf(user: string, session: string, organization: string): string {
  return `select ${resultColumn} from (select is_active as "isActive", is_signed_in as "isSignedIn",
  role, group_ids as "groupIds", relations, modules as "heldModules", billing as "billingFacts", gates, single_sign_on_id as "singleSignOnId",
  lacks_second_factor as "lacksSecondFactor" from request_context(${user}, ${session}, ${organization})) found`;
}

const tokenSnapshotText = `select ${resultColumn} from (select is_active as "isActive", is_signed_in as "isSignedIn",
  role, group_ids as "groupIds", relations, modules as "heldModules", billing as "billingFacts", gates, json_build_object('userId', user_id,
    'organizationId', organization_id, 'scopes', scopes, 'expiresAt', expires_at) as token,
  role is not null and user_id is not null and lacks_second_factor(user_id, organization_id) as "lacksSecondFactor"
  from token_context($1, $2, $3, $4)) found`;

const delegationSnapshotText = `select ${resultColumn} from (select is_active as "isActive", is_signed_in as "isSignedIn",
  role, group_ids as "groupIds", relations, modules as "heldModules", billing as "billingFacts", gates, false as "lacksSecondFactor",
  json_build_object('id', $1::text, 'type', type, 'actorId', actor_id, 'actorName', actor_name, 'expiresAt', expires_at,
    'subjectId', subject_id, 'organizationId', organization_id) as delegation from delegation_context($1)) found`;

export interface StateStatement {
  readonly text: string;
  readonly values: (string | null)[];
}

/** The statement for the current state of a caller: one column of one row. */
export function snapshotStatement(principal: Principal): StateStatement {
  const { organizationId } = principal;
  if ('sessionId' in principal)
    return { text: snapshotText, values: [principal.userId, principal.sessionId, organizationId] };
  if ('delegationId' in principal) return { text: delegationSnapshotText, values: [principal.delegationId] };
  const { sort, tokenId, secretHashes } = principal;
  return { text: tokenSnapshotText, values: [sort, tokenId, secretHashes.join(' '), organizationId] };
}

/**
 * Reads user, session or token, and membership in one statement outside any transaction.
 * @param more what else the statement returns, whatever the state is
 * @throws AppError database_unavailable, database_busy, deadline_exceeded
 */
export async function readPrincipalState(
  database: StatementSource,
  principal: Principal,
  { deadline, traceparent }: { readonly deadline: number; readonly traceparent: string },
  more?: FurtherColumns,
): Promise<PrincipalSnapshot> {
  const { organizationId } = principal;
  const statement = withColumns(snapshotStatement(principal), more);
  const { rows } = await queryOutsideTransaction<{ readonly result: string }>(
    database,
    { role: 'app', organizationId, userId: readerOf(principal), deadline, traceparent: () => traceparent },
    statement,
  );
  const { result: text = '', ...further } = rows[0] ?? {};
  return { state: stateIn(text), text, ...(more ? { further } : {}) };
}

function withColumns(
  { text, values }: StateStatement,
  more: FurtherColumns | undefined,
): { readonly text: string; readonly values: unknown[] } {
  if (!more) return { text, values };
  const columns = `${more.columns(values.length + 1)}, ${resultColumn}`;
  return { text: text.replace(resultColumn, columns), values: [...values, ...more.values] };
}

/** Id of the owner of the connection. */
function readerOf(principal: Principal): string {
  if ('sessionId' in principal) return principal.userId;
  return 'delegationId' in principal ? principal.delegationId : principal.tokenId;
}

/** A person who lacks a second factor that the organization requires has no role there, wherever the state is read. */
export function stateIn(text: string): PrincipalState {
  const state = JSON.parse(text) as PrincipalState;
  return state.lacksSecondFactor ? { ...state, role: null } : state;
}

/** Properties of a caller that do not depend on the membership. */
export interface CallerContext extends Partial<Caller> {
  /** Applies the current configuration to the billing of the organization (`entitled`). */
  readonly entitled: (held: HeldEntitlements) => Partial<Entitled>;
}

/** Names no session: the session of the work has been judged, or is judged apart (`readEntry`). */
export const judgedSession = '*';

/** Reads the state of a person in an organization within a unit of work, whatever the session. */
export async function readMembershipState(
  work: Work,
  userId: string,
  organizationId: string,
): Promise<MembershipState> {
  return readStateWithin(work, { userId, sessionId: judgedSession, organizationId });
}

/** The caller for a person in an organization. Without a role the caller has no organization, and tenant queries return nothing. */
export function callerIn(
  subjectId: string,
  organizationId: string | null,
  state: MembershipState,
  { entitled = whateverHeld, ...others }: Partial<CallerContext>,
): Caller {
  const { role, groupIds, relations, gates } = state;
  const membership = role === null ? {} : { organizationId, role, groupIds, relations, gates, ...entitled(state) };
  return callerOf({ kind: 'user', subjectId, ...membership, ...others });
}

/**
 * The caller that an API token or a personal token stands for. An API token has the rights of its scopes; a person whom a personal
 * token stands for has those of their own rights that are within its scopes.
 */
export function callerOfToken(
  { sort, tokenId }: TokenPrincipal,
  state: PrincipalState,
  { entitled, ...others }: CallerContext,
): Caller {
  const { userId = null, organizationId = null, scopes = [] } = state.token ?? {};
  const relations = relationsOfScopes(scopes);
  if (sort === 'personal')
    return callerIn(userId ?? '', organizationId, state, { limits: relations, tokenId, entitled, ...others });
  return callerOf({
    kind: 'api_token',
    subjectId: tokenId,
    organizationId,
    relations,
    gates: state.gates,
    ...entitled(state),
    // Rights that a record inherits, such as that of the editors of a task to delete its subtasks, are not in the scopes.
    limits: relations,
    tokenId,
    ...others,
  });
}

/** The state of a delegation within a unit of work: the rule that judges its requests also judges its beginning. */
export async function readDelegationState(work: Work, principal: DelegationPrincipal): Promise<PrincipalState> {
  return readStateWithin(work, principal);
}

export async function readStateWithin(work: Work, principal: Principal): Promise<PrincipalState> {
  const session = await work.readAs('app');
  const { text, values } = snapshotStatement(principal);
  const { rows } = await session.query<{ readonly result: string }>(text, values);
  return stateIn(rows[0]?.result ?? '');
}

/** The role that support has in the organization that lets it in. */
const roleOfSupport = 'admin' satisfies Role;

/**
 * The caller that a delegation stands for: the support identity with the rights of an admin, or a person with theirs. Both within
 * `limitsOfDelegates`, which is the one place that says what is left out.
 */
export function callerOfDelegation(registry: Registry, state: PrincipalState, context: CallerContext): Caller {
  const { delegation: held, ...membership } = state;
  const { entitled, ...others } = context;
  if (!held) throw new Error('this is not the state of a delegation');
  const { subjectId, organizationId, ...delegation } = held;
  const own = { delegation, limits: limitsOfDelegates(registry), tokenId: delegation.id, ...others };
  if (delegation.type === 'impersonation') return callerIn(subjectId, organizationId, membership, { entitled, ...own });
  return callerOf({
    kind: 'support',
    subjectId,
    organizationId,
    role: roleOfSupport,
    gates: state.gates,
    ...entitled(state),
    ...own,
  });
}

/** The gates of an organization, for callers who act in none or in another one. */
export async function readGates(work: Work, organizationId: string): Promise<readonly string[]> {
  const [row] = await work.rowsAsSystem<{ readonly gates: string[] }>('select gates_of($1) as gates', [organizationId]);
  return row?.gates ?? [];
}

/**
 * Reads the caller's role, groups, relations and gates again, for changes that may have waited for a lock: the person may have lost some
 * of them during the wait.
 * @returns the same object when nothing has changed
 * @throws AppError unauthenticated when the caller acted as somebody else, and that has ended
 */
export async function refreshCaller(work: Work, caller: Caller): Promise<Caller> {
  const { kind, subjectId, organizationId, role, groupIds, relations, gates, ...others } = caller;
  if (subjectId === null || organizationId === null) return caller;
  const current = caller.delegation && (await currentDelegation(work, caller.delegation.id, organizationId));
  if (kind !== 'user') return caller;
  const state = current ?? (await readMembershipState(work, subjectId, organizationId));
  const isSame = isDeepStrictEqual(
    [role, groupIds, relations, gates],
    [state.role, state.groupIds, state.relations, state.gates],
  );
  return isSame ? caller : callerIn(subjectId, organizationId, state, others);
}

/** The state of a delegation that has not ended. @throws AppError unauthenticated */
async function currentDelegation(work: Work, delegationId: string, organizationId: string): Promise<PrincipalState> {
  const state = await readDelegationState(work, { delegationId, organizationId });
  const { isActive, isSignedIn, delegation } = state;
  if (!isActive || !isSignedIn || !delegation || new Date(delegation.expiresAt) <= work.clock.now())
    throw new AppError('unauthenticated', 'The access as another user ended while the request was waiting.');
  return state;
}
