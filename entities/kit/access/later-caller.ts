import { callerIn, callerOfToken, readStateWithin } from './principal-state.ts';
import { AppError } from '../base/errors.ts';
import type { Caller } from '../model/caller.ts';
import type { Work } from '../storage/work.ts';

/** Whose rights work has that was started in a session and is done later. */
export interface LaterPrincipal {
  /** Id of the person; null when the account no longer exists. */
  readonly userId: string | null;
  readonly organizationId: string;
  /** The personal token with which the person started it; null for a session. */
  readonly tokenId: string | null;
}

/**
 * The person with the rights of now. The session in which the work was started may have ended since, and may have been one of single
 * sign-on, so the caller is confined to the organization (confinement.ts): the rights that a person has to what is their own elsewhere
 * were those of that session.
 * Work that was started with a personal token stays within its scopes of now, and ends with the token.
 * @param others properties that do not depend on the membership
 * @param acceptsKey whether tokens count whose secret is hashed with the key
 * @throws AppError permission_denied when the person has no access to the organization any more
 */
export async function readLaterCaller(
  work: Work,
  { userId, organizationId, tokenId }: LaterPrincipal,
  others: Partial<Caller>,
  acceptsKey: (keyId: string) => boolean,
): Promise<Caller> {
  if (tokenId !== null)
    return readLaterToken(
      work,
      { userId, organizationId, tokenId },
      { ...others, singleSignOnId: organizationId },
      acceptsKey,
    );
  // Names no session: it does not matter any more.
  const state = userId === null ? undefined : await readStateWithin(work, { userId, sessionId: '*', organizationId });
  if (userId === null || !state?.isActive || state.role === null)
    throw new AppError(
      'permission_denied',
      'The person who started this work has no access to the organization any more.',
    );
  return callerIn(userId, organizationId, state, { ...others, singleSignOnId: organizationId });
}

/** @throws AppError permission_denied once the token, or what it stands for, has ended */
async function readLaterToken(
  work: Work,
  { userId, organizationId, tokenId }: LaterPrincipal & { readonly tokenId: string },
  others: Partial<Caller>,
  acceptsKey: (keyId: string) => boolean,
): Promise<Caller> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ readonly hash: string; readonly key: string }>(
    'select secret_hash as hash, key_id as key from personal_access_tokens where id = $1 and user_id = $2 and deleted_at is null',
    [tokenId, userId],
  );
  const [held] = rows;
  const principal = { sort: 'personal', tokenId, secretHashes: [held?.hash ?? ''], organizationId } as const;
  const state = held && acceptsKey(held.key) ? await readStateWithin(work, principal) : undefined;
  const expiresAt = state?.token?.expiresAt ?? null;
  const isOver = expiresAt !== null && new Date(expiresAt) <= work.clock.now();
  if (!state?.isSignedIn || !state.isActive || state.role === null || isOver)
    throw new AppError('permission_denied', 'The token with which this work was started is not valid here any more.');
  return callerOfToken(principal, state, others);
}
