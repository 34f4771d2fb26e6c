import type { QueryResultRow } from 'pg';
import type { Clock } from '../base/clock.ts';
import type { Registry } from '../model/registry.ts';
import type { WorkContext } from '../model/work-context.ts';
import type { DatabaseRole, RoleSession } from './transaction.ts';

/** The part of a unit of work that reads need: its context, and sessions in its transaction. */
export interface Work {
  readonly context: WorkContext;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Number of desired tuples changed so far by this unit of work. If it is not zero, rights are decided from rows, without the allow cache. */
  readonly changedTuples: number;
  /** A session of the transaction under the given role. Pending changes are flushed first, so that reads see them. */
  readAs(role: DatabaseRole): Promise<RoleSession>;
  /** The rows of one statement of the server itself, as in a session under the role `system`. */
  rowsAsSystem<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs one such statement. @returns how many rows it has changed or found */
  runAsSystem(text: string, values?: readonly unknown[]): Promise<number>;
}
