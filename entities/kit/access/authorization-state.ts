import type { RoleSession } from '../storage/transaction.ts';

/** The state of an organization that decides whether cached decisions are still valid. */
export interface AuthorizationState {
  /** The organization and its ancestors, nearest first. */
  readonly organizations: readonly string[];
  /** Revisions of all scopes of the organization, as one text; cached decisions are valid only for the same text. */
  readonly revisions: string;
  /** Changes of rights to existing records have not reached the authorization store yet. */
  readonly isStale: boolean;
  /** Some tuples, including those of new records, have not reached the authorization store yet. */
  readonly hasPending: boolean;
}

/** Reads the state as of this statement, not as of the beginning of the transaction. */
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

/** Increments the revisions of scopes. Must be the last statement before the commit: other transactions that bump the same scopes wait for it. */
export async function bumpRevisions(session: RoleSession, scopes: Iterable<string>): Promise<void> {
  await session.query('select raise_revisions($1)', [[...scopes]]);
}

/** The scope of tuples that belong to no organization. */
export const systemScope = 'system';
