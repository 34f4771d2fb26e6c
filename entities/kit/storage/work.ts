import type { Clock } from '../base/clock.ts';
import type { Registry } from '../model/registry.ts';
import type { WorkContext } from '../model/work-context.ts';
import type { DatabaseRole, RoleSession } from './transaction.ts';

/** What reading needs of a unit of work: its caller, and statements in its transaction. */
export interface Work {
  readonly context: WorkContext;
  readonly registry: Registry;
  readonly clock: Clock;
  /** How many desired tuples this unit of work has changed so far: from the first on, rows decide about rights and no cache. */
  readonly changedTuples: number;
  /** The transaction under the given role. Pending changes are sent before, so that a read sees them. */
  readAs(role: DatabaseRole): Promise<RoleSession>;
}
