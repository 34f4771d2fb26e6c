import type { Clock } from '../base/clock.ts';
import type { Caller } from '../model/caller.ts';
import type { Operation } from '../model/policy.ts';
import type { Registry } from '../model/registry.ts';
import type { StatementObserver } from '../storage/transaction.ts';
import type { Authorizer } from './authorizer.ts';
import type { Decision } from './decision.ts';

export interface DatabaseOptions {
  /** PostgreSQL connection URI (configuration `db.primarydbsource`). */
  readonly url: string;
  readonly applicationName: string;
  /** `db.maxconnections`. */
  readonly maxConnections: number;
  /** `db.maxidleconnections`: connections kept open when idle. */
  readonly maxIdleConnections: number;
  /** Transactions at the same time, those that wait for a connection included; more are refused with 503 (`ormconfig.maxpoolsize`). */
  readonly maxUnitsOfWork: number;
  /** Longest wait for a free connection. */
  readonly acquireTimeoutMs: number;
  /** Longest wait for a row lock. */
  readonly lockTimeoutMs: number;
  /** Longest a transaction may sit without a statement before PostgreSQL ends it. */
  readonly idleInTransactionTimeoutMs: number;
  /** Default deadline of a unit of work that brings none. */
  readonly defaultTimeoutMs: number;
  /** `db.enablehistory`. */
  readonly recordHistory: boolean;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Whether any listener wants events of this topic; others are recorded but start nothing. */
  readonly hasListener: (topic: string) => boolean;
  /** `workflows.dispatch.failonenqueueerror`: whether a change fails whose events cannot be recorded. */
  readonly failOnEnqueueError: () => boolean;
  readonly observer?: StatementObserver;
  /** Decides about single records; without it the rows decide (`authz.enabled` off). */
  readonly authorizer?: Authorizer;
  /** Told of every decision about a change. */
  readonly onDecision?: (taken: DecisionTaken) => void;
  /** Errors of idle connections and of after-commit hooks: logged, never thrown at a caller. */
  readonly onBackgroundError: (error: unknown, doing: string) => void;
}

/** A decision about a change, for reports and tests. */
export interface DecisionTaken {
  readonly kind: string;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly decision: Decision;
}
