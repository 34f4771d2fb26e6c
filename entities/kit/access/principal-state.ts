import { isDeepStrictEqual } from 'node:util';
import type { QueryResultRow } from 'pg';
import { callerOf, type Caller, type Role } from '../model/caller.ts';
import type { ConnectionQueue } from '../storage/connection-queue.ts';
import { queryOutsideTransaction, type StatementObserver } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** The ids that an access token names. */
export interface TokenPrincipal {
  readonly userId: string;
  readonly tokenId: string;
  readonly organizationId: string | null;
}

/** The part of a database that `readPrincipalState` needs. */
interface StateSource {
  readonly connections: ConnectionQueue;
  readonly options: { readonly observer?: StatementObserver };
}

/** The current state of the person that an access token names. */
export interface PrincipalState extends MembershipState {
  readonly isActive: boolean;
  readonly isRevoked: boolean;
}

/** The current state of a person in one organization. */
export interface MembershipState extends Pick<Caller, 'groupIds' | 'relations' | 'productModules'> {
  /** The strongest role in the organization or one of its ancestors; null for a person without a role. */
  readonly role: Role | null;
}

const columns = 'role, group_ids as "groupIds", relations, modules as "productModules"';

/**
 * Reads user, revocation and membership in one statement, before the unit of work and outside any transaction.
 * @throws AppError database_unavailable, database_busy, deadline_exceeded
 */
export async function readPrincipalState(
  database: StateSource,
  { userId, tokenId, organizationId }: TokenPrincipal,
  { deadline, traceparent }: { readonly deadline: number; readonly traceparent: string },
): Promise<PrincipalState> {
  const startedAt = performance.now();
  const text = `select is_active as "isActive", is_revoked as "isRevoked", ${columns}
    from request_context($1, $2, $3)`;
  const values = [userId, tokenId, organizationId];
  const { rows } = await queryOutsideTransaction<PrincipalState>(
    database.connections,
    { role: 'app', organizationId, userId },
    { name: 'request-context', text, values },
    deadline,
  );
  database.options.observer?.statement({
    text,
    durationMs: performance.now() - startedAt,
    isFailed: false,
    traceparent,
  });
  return rows[0] as PrincipalState;
}

/** Reads the state of a person in an organization within a unit of work. */
export async function readMembershipState(
  work: Work,
  userId: string,
  organizationId: string,
): Promise<MembershipState> {
  const session = await work.readAs('app');
  const { rows } = await session.query<MembershipState & QueryResultRow>(
    `select ${columns} from request_context($1, '', $2)`,
    [userId, organizationId],
  );
  return rows[0] as MembershipState;
}

/**
 * The caller for a person in an organization. Without a role the caller has no organization, and tenant queries return nothing.
 * @param others properties that do not depend on the membership
 */
export function callerIn(
  subjectId: string,
  organizationId: string | null,
  { role, groupIds, relations, productModules }: MembershipState,
  others: Partial<Caller>,
): Caller {
  const membership = role === null ? {} : { organizationId, role, groupIds, relations, productModules };
  return callerOf({ kind: 'user', subjectId, ...membership, ...others });
}

/**
 * Reads the caller's role, groups and relations again, for changes that may have waited for a lock: the person may have lost some
 * of them during the wait.
 * @returns the same object when nothing has changed
 */
export async function refreshCaller(work: Work, caller: Caller): Promise<Caller> {
  const { kind, subjectId, organizationId, role, groupIds, relations, ...others } = caller;
  if (kind !== 'user' || subjectId === null || organizationId === null) return caller;
  const state = await readMembershipState(work, subjectId, organizationId);
  const isSame = isDeepStrictEqual([role, groupIds, relations], [state.role, state.groupIds, state.relations]);
  return isSame ? caller : callerIn(subjectId, organizationId, state, others);
}

/** Revokes an access token; takes effect with the commit. */
export async function revokeToken(work: Work, tokenId: string, expiresAt: Date): Promise<void> {
  const session = await work.readAs('system');
  await session.query(
    'insert into revoked_tokens (token_id, revoked_at, expires_at) values ($1, $2, $3) on conflict do nothing',
    [tokenId, work.clock.now(), expiresAt],
  );
}
