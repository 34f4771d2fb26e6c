import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import type { RemovalProgress } from '#workflows/organizations/remove-organization.contract.ts';

export type Removal = RowOf<typeof organizationRemoval>;

/**
 * A step of the removal of a deleted organization. Files named `….step.ts` are found in `activities/removals`. Steps run at the
 * same time, each until it ends or an operator skips it; one that fails delays those alone that come after it.
 */
export interface RemovalStep {
  /** Temporal type of its activity: a verb and a noun in camel case. It never changes. */
  readonly name: string;
  /** One line for operators. */
  readonly description: string;
  /** Steps that end before it begins; `others` for all others. */
  readonly after: readonly string[] | 'others';
  /**
   * Runs again after a failure, whatever kind it is, so it may repeat what was done before.
   * @returns the progress of a step that ends only when it says so; it runs again until then
   */
  readonly run?: (deps: ActivityDependencies, removal: Removal) => Promise<RemovalProgress | void>;
  /** Writes in the transaction that records its end, once. */
  readonly end?: (unit: UnitOfWork, removal: Removal) => void;
}

export function defineRemovalStep(step: RemovalStep): RemovalStep {
  return step;
}
