import type { AuthorizationState } from './authorization-state.ts';
import type { ConditionedTuple, Tuple } from '../model/tuples.ts';

/** One question to the authorization store. */
export interface CheckRequest extends Tuple {
  /** How the record is tied to its organization and to the records above it: it travels along and is stored nowhere. */
  readonly context: readonly ConditionedTuple[];
}

/** Where a decision came from. */
export type DecidedBy = 'rules' | 'rows' | 'cache' | 'store';

export interface CheckResult {
  readonly isAllowed: boolean;
  readonly by: DecidedBy;
}

/** Decides what the rules of a kind leave to the authorization store. */
export interface Authorizer {
  /**
   * @param readState what remembered decisions depend on now; read again after waiting tuples were applied
   * @throws AppError authorization_unavailable: nothing is known, so nothing is allowed
   */
  decide(question: CheckRequest, readState: () => Promise<AuthorizationState>): Promise<CheckResult>;
}
