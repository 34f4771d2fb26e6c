import { limitingToken, type Caller } from '../../kit/model/caller.ts';

/** Person or program that proposes a change. */
export interface Submitter {
  /** Null for a program. */
  readonly submitterId: string | null;
  /** Token with which the change is made; null for a session. */
  readonly submitterTokenId: string | null;
}

/** Undefined for callers who cannot be found again when the change is applied: support, and visitors without an account. */
export function submitterOf(caller: Caller): Submitter | undefined {
  const submitterTokenId = limitingToken(caller);
  if (caller.kind === 'api_token') return { submitterId: null, submitterTokenId };
  return caller.kind === 'user' ? { submitterId: caller.subjectId, submitterTokenId } : undefined;
}

export function isSame(one: Submitter, other: Submitter): boolean {
  return one.submitterId === other.submitterId && one.submitterTokenId === other.submitterTokenId;
}
