import { callerIn, callerOfToken, readStateWithin, type CallerContext } from './principal-state.ts';
import { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { TokenSort } from '../model/scopes.ts';
import type { Work } from '../storage/work.ts';

/** Caller of work that was started in a request and is done later. */
export interface LaterPrincipal {
  /** Id of the person; null when the account no longer exists, and for an API token. */
  readonly userId: string | null;
  readonly organizationId: string;
  /** The token with which it was started; null for a session. */
  readonly tokenId: string | null;
}

/**
 * The person or API token with the current rights. The session in which a person started the work may have ended since, and may have been
 * one of single sign-on, so the person is confined to the organization (confinement.ts): the rights that a person has to what is their own
 * elsewhere were those of that session.
 * Work that was started with a token stays within its current scopes, and ends with the token.
 * @param others properties that do not depend on the membership
 * @param acceptsKey whether tokens are valid whose secret is hashed with the key
 * @throws AppError permission_denied when the person or the token has no access to the organization any more
 */
export async function readLaterCaller(
  work: Work,
  { userId, organizationId, tokenId }: LaterPrincipal,
  others: CallerContext,
  acceptsKey: (keyId: string) => boolean,
): Promise<Caller> {
  if (tokenId !== null) return readLaterToken(work, { userId, organizationId, tokenId }, others, acceptsKey);
  // Names no session: it does not matter any more.
  const state = userId === null ? undefined : await readStateWithin(work, { userId, sessionId: '*', organizationId });
  if (userId === null || !state?.isActive || state.role === null)
    throw new AppError(
      'permission_denied',
      'The person who started this work no longer has access to the organization.',
    );
  return callerIn(userId, organizationId, state, { ...others, singleSignOnId: organizationId });
}

const secretOfToken = {
  personal:
    'select secret_hash as hash, key_id as key from personal_access_tokens where id = $1 and user_id = $2 and deleted_at is null',
  api: 'select secret_hash as hash, key_id as key from api_tokens where id = $1 and organization_id = $2 and deleted_at is null',
} as const satisfies Readonly<Record<TokenSort, string>>;

/** @throws AppError permission_denied once the token, or what it stands for, has ended */
async function readLaterToken(
  work: Work,
  { userId, organizationId, tokenId }: LaterPrincipal & { readonly tokenId: string },
  others: CallerContext,
  acceptsKey: (keyId: string) => boolean,
): Promise<Caller> {
  const sort = userId === null ? 'api' : 'personal';
  const [held] = await work.rowsAsSystem<{ readonly hash: string; readonly key: string }>(secretOfToken[sort], [
    tokenId,
    userId ?? organizationId,
  ]);
  const principal = { sort, tokenId, secretHashes: [held?.hash ?? ''], organizationId } as const;
  const state = held && acceptsKey(held.key) ? await readStateWithin(work, principal) : undefined;
  const expiresAt = state?.token?.expiresAt ?? null;
  const isOver = expiresAt !== null && new Date(expiresAt) <= work.clock.now();
  const isOut = sort === 'personal' && state?.role === null;
  if (!state?.isSignedIn || !state.isActive || isOut || isOver)
    throw new AppError('permission_denied', 'The token with which this work was started is no longer valid here.');
  return callerOfToken(principal, state, sort === 'api' ? others : { ...others, singleSignOnId: organizationId });
}
