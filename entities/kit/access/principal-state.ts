import { isDeepStrictEqual } from 'node:util';
import type { Pool, QueryResultRow } from 'pg';
import { callerOf, type Caller, type Role } from '../model/caller.ts';
import { queryOutsideTransaction, type StatementObserver } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** Whom an access token names. */
export interface Named {
  readonly userId: string;
  readonly tokenId: string;
  readonly organizationId: string | null;
}

/** The part of a database that the statement before a unit of work needs. */
interface StateSource {
  readonly pool: Pool;
  readonly options: { readonly observer?: StatementObserver };
}

/** The current state of the person that an access token names. */
export interface PrincipalState extends MembershipState {
  readonly isActive: boolean;
  readonly isRevoked: boolean;
}

/** The same of a person in one organization. */
export interface MembershipState extends Pick<Caller, 'groupIds' | 'relations' | 'productModules'> {
  /** Strongest role there or in an organization that it is part of; null when there is none any more. */
  readonly role: Role | null;
}

const columns = 'role, group_ids as "groupIds", relations, modules as "productModules"';

/**
 * The one statement before a unit of work: reads user, revocation and membership together, outside any transaction.
 * @throws AppError database_unavailable, database_busy, deadline_exceeded
 */
export async function readPrincipalState(
  database: StateSource,
  { userId, tokenId, organizationId }: Named,
  { deadline, traceparent }: { readonly deadline: number; readonly traceparent: string },
): Promise<PrincipalState> {
  const startedAt = performance.now();
  const text = `select is_active as "isActive", is_revoked as "isRevoked", ${columns}
    from request_context($1, $2, $3)`;
  const values = [userId, tokenId, organizationId];
  const { rows } = await queryOutsideTransaction<PrincipalState>(
    database.pool,
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

/** What is true now of a person in an organization. */
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
 * A person at work in an organization. Without a role there it is not theirs any more, and tenant queries return nothing.
 * @param others what does not follow from the standing
 */
export function callerIn(
  subjectId: string,
  organizationId: string | null,
  { role, groupIds, relations, productModules }: MembershipState,
  others: Partial<Caller>,
): Caller {
  const standing = role === null ? {} : { organizationId, role, groupIds, relations, productModules };
  return callerOf({ kind: 'user', subjectId, ...standing, ...others });
}

/**
 * The caller as of this statement, for changes that may have waited for a lock: a role and groups that a person has lost
 * meanwhile count no more.
 * @returns the same caller when nothing is different
 */
export async function refreshCaller(work: Work, caller: Caller): Promise<Caller> {
  const { kind, subjectId, organizationId, role, groupIds, relations, ...others } = caller;
  if (kind !== 'user' || subjectId === null || organizationId === null) return caller;
  const standing = await readMembershipState(work, subjectId, organizationId);
  const isSame = isDeepStrictEqual([role, groupIds, relations], [standing.role, standing.groupIds, standing.relations]);
  return isSame ? caller : callerIn(subjectId, organizationId, standing, others);
}

/** Makes an access token worthless from the commit on. */
export async function revokeToken(work: Work, tokenId: string, expiresAt: Date): Promise<void> {
  const session = await work.readAs('system');
  await session.query(
    'insert into revoked_tokens (token_id, revoked_at, expires_at) values ($1, $2, $3) on conflict do nothing',
    [tokenId, work.clock.now(), expiresAt],
  );
}
