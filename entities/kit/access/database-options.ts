import type { Clock } from '../base/clock.ts';
import type { Caller } from '../model/caller.ts';
import type { Operation } from '../model/policy.ts';
import type { Registry } from '../model/registry.ts';
import type { DatabaseHook } from '../storage/database-hook.ts';
import type { StatementObserver } from '../storage/transaction.ts';
import type { Authorizer } from './authorizer.ts';
import type { Decision } from './decision.ts';
import type { ValueChecks } from './value-checks.ts';

/** Parts of the configuration from which companions of records are made. */
export interface ConfiguredNames {
  /** `ormconfig.entitytypes`. */
  readonly entityTypes: readonly string[];
  /** `workflows.enabled`: new organizations get examples of workflow definitions. */
  readonly hasWorkflows: boolean;
}

export interface DatabaseOptions {
  /** PostgreSQL connection URI (configuration `db.primarydbsource`). */
  readonly url: string;
  /** Takes part in all changes. */
  readonly hook?: DatabaseHook;
  readonly applicationName: string;
  /** `db.maxconnections`. */
  readonly maxConnections: number;
  /** `db.maxidleconnections`: connections kept open when idle. */
  readonly maxIdleConnections: number;
  /** Maximum number of concurrent transactions, including those that wait for a connection; more are rejected with 503 (`ormconfig.maxpoolsize`). */
  readonly maxUnitsOfWork: number;
  /** Maximum wait for a free connection. */
  readonly acquireTimeoutMs: number;
  /** Maximum wait for a row lock. */
  readonly lockTimeoutMs: number;
  /** Maximum time without a statement after which PostgreSQL ends a transaction. */
  readonly idleInTransactionTimeoutMs: number;
  /** Time limit of a unit of work without a deadline. */
  readonly defaultTimeoutMs: number;
  /** How long results of reads may be answered again, in milliseconds; 0: never (`db.cachettl`). */
  readonly resultsTtlMs?: () => number;
  /** `db.enablehistory`. */
  readonly recordHistory: boolean;
  /** `server.enablegraphsubscriptions`: changes are recorded for subscribers. */
  readonly feedsSubscribers?: boolean;
  readonly registry: Registry;
  /** Secrets whose keys encrypt sealed fields, the newest first, separated by commas (`sessions.encryptionkey`). */
  readonly encryptionSecrets: () => string;
  readonly clock: Clock;
  /** Whether a topic has a listener; events of other topics are recorded but not delivered. */
  readonly hasListener: (topic: string) => boolean;
  /** Whether a topic has a listener that is given some events only: those that a published version of a workflow names, or that report the deletion of a record with an open instance. */
  readonly hasListenerOnDemand: (topic: string) => boolean;
  /** `workflows.dispatch.failonenqueueerror`: whether a change fails when its events cannot be recorded. */
  readonly failOnEnqueueError: () => boolean;
  readonly configuredNames: () => ConfiguredNames;
  readonly valueChecks?: ValueChecks;
  readonly observer?: StatementObserver;
  /** Decides rights to single records; without it they are decided from the rows in PostgreSQL (`authz.enabled` off). */
  readonly authorizer?: Authorizer;
  readonly onDecision?: (taken: DecisionTaken) => void;
  /** Called at the end of every unit of work that has sent a statement. */
  readonly onUnitEnded?: (ended: EndedUnit) => void;
  /** Logs errors of idle connections and of post-commit hooks, which no caller receives. */
  readonly onBackgroundError: (error: unknown, doing: string) => void;
}

export interface EndedUnit {
  readonly isCommitted: boolean;
  readonly isReadOnly: boolean;
  /** From its creation to the end of its transaction. */
  readonly durationMs: number;
  readonly traceparent: string | undefined;
}

export interface DecisionTaken {
  readonly kind: string;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly decision: Decision;
}
