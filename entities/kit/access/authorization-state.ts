import type { RoleSession } from '../storage/transaction.ts';

/** What remembered decisions of an organization depend on. */
export interface AuthorizationState {
  /** The organization and those it is part of, nearest first. */
  readonly organizations: readonly string[];
  /** Revisions of all scopes concerned; another text means that remembered decisions may be wrong. */
  readonly revisions: string;
  /** Changes of existing rights have not reached the authorization store yet. */
  readonly isStale: boolean;
  /** Any tuples have not reached it yet, those of new records included. */
  readonly hasPending: boolean;
}

/** As of this statement; not as of the beginning of the transaction. */
export async function readAuthorizationState(
  session: RoleSession,
  organizationId: string,
): Promise<AuthorizationState> {
  const { rows } = await session.query<AuthorizationState>(
    `select coalesce(organizations, '{}') as organizations, revisions, is_behind as "isStale", has_waiting as "hasPending"
     from authorization_state($1)`,
    [organizationId],
  );
  return rows[0] as AuthorizationState;
}

/** To be the last statement before the commit: from here on transactions that raise the same scopes wait for this one. */
export async function bumpRevisions(session: RoleSession, scopes: Iterable<string>): Promise<void> {
  await session.query('select raise_revisions($1)', [[...scopes]]);
}

/** The scope of what belongs to no organization. */
export const systemScope = 'system';
