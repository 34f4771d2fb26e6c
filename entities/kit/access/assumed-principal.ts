import { concurrentChanges } from '../base/errors.ts';
import type { Precondition } from '../model/work-context.ts';
import { snapshotStatement, type Principal, type PrincipalSnapshot } from './principal-state.ts';

/**
 * The state that a caller had at the last request with the same token. The first statement of a unit of work that starts from it
 * takes the question along whether it is still the same, which saves a round trip. If it is not, the work must be repeated.
 */
export class AssumedPrincipal implements Precondition {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly #snapshot: PrincipalSnapshot;
  #outcome: 'unknown' | 'confirmed' | 'refuted' = 'unknown';

  constructor(principal: Principal, snapshot: PrincipalSnapshot) {
    const { text, values } = snapshotStatement(principal);
    this.text = text;
    this.values = values;
    this.#snapshot = snapshot;
  }

  /** Unknown until the state was read. Once refuted, it stays refuted: part of the work may have been done already. */
  get outcome(): 'unknown' | 'confirmed' | 'refuted' {
    return this.#outcome;
  }

  /** @param text the current state */
  compare(text: string | null): void {
    if (this.#outcome !== 'refuted') this.#outcome = text === this.#snapshot.text ? 'confirmed' : 'refuted';
  }

  /** @throws AppError concurrent_changes if the state has changed */
  check(result: string | null): void {
    this.compare(result);
    if (this.#outcome === 'refuted') throw concurrentChanges(new Error('the rights of the caller have changed'));
  }
}
