import type { AuthorizationState } from './authorization-state.ts';
import type { ConditionedTuple, Tuple } from '../model/tuples.ts';

/** One check by the authorization store. */
export interface CheckRequest extends Tuple {
  /** Contextual tuples: the organization of the record and the records above it. They are sent with the check and not stored. */
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
  decide(request: CheckRequest, readState: () => Promise<AuthorizationState>): Promise<CheckResult>;
}
