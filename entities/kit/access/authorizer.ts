import type { AuthorizationState } from './authorization-state.ts';
import type { ConditionedTuple, Tuple } from '../model/tuples.ts';

/** A check by the authorization store. */
export interface CheckRequest extends Tuple {
  /** Contextual tuples: the organization of the record and the records above it. They are sent with the check and not stored. */
  readonly context: readonly ConditionedTuple[];
}

/** The source of a decision: rules and caller alone, rows in PostgreSQL, the allow cache, or the authorization store. */
export type DecidedBy = 'rules' | 'rows' | 'cache' | 'store';

export interface CheckResult {
  readonly isAllowed: boolean;
  readonly by: DecidedBy;
}

/** Decides what the rules of a kind cannot decide from the caller and the row alone. */
export interface Authorizer {
  /**
   * Decides one check.
   * @param readState reads the current state; called again after pending tuples were applied
   * @throws AppError authorization_unavailable when no decision is possible
   */
  decide(request: CheckRequest, readState: () => Promise<AuthorizationState>): Promise<CheckResult>;
}
