import { topicsWithListeners } from '#activities/listeners/wanted-listeners.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import type { DatabaseOptions } from '#entities/kit/access/database-options.ts';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import type { Registry as EntityRegistry } from '#entities/kit/model/registry.ts';
import { SecondDatabaseHook } from '#entities/kit/storage/second/second-database-hook.ts';
import type { StatementObserver } from '#entities/kit/storage/transaction.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Logger } from 'pino';
import type { CoreMetrics } from './metrics/core-metrics.ts';

/** Parts of a process that its database uses. */
export interface DatabaseParts {
  readonly config: ConfigStore;
  readonly logger: Logger;
  /** Shown by PostgreSQL as application name. */
  readonly process: 'core api' | 'core worker' | 'core tool';
  readonly clock?: Clock;
  readonly observers?: readonly StatementObserver[];
  readonly onDecision?: DatabaseOptions['onDecision'];
}

/** Settings of the database of a process, without the authorizer. */
export function configuredDatabase(
  { config, logger, process, clock = systemClock, observers = [], onDecision }: DatabaseParts,
  registry: EntityRegistry,
  listeners: readonly Listener[],
  metrics: CoreMetrics,
): Omit<DatabaseOptions, 'authorizer'> {
  const { db, ormconfig, server } = config.current;
  const connections = {
    url: db.primarydbsource,
    applicationName: process,
    maxConnections: db.maxconnections,
    maxIdleConnections: db.maxidleconnections,
    lockTimeoutMs: server.writetimeout,
    onBackgroundError: (error: unknown, doing: string) => logger.error({ err: error }, `failed: ${doing}`),
  };
  return {
    ...connections,
    ...(db.multiwrite && {
      hook: new SecondDatabaseHook({
        ...connections,
        url: db.secondarydbsource,
        primaryUrl: db.primarydbsource,
        logger,
      }),
    }),
    maxUnitsOfWork: ormconfig.maxpoolsize,
    acquireTimeoutMs: server.writetimeout,
    // Longer than the deadline, at which a running process rolls back by itself: this is for a process that hangs.
    idleInTransactionTimeoutMs: server.writetimeout + 5_000,
    defaultTimeoutMs: server.writetimeout,
    resultsTtlMs: () => config.current.db.cachettl,
    recordHistory: db.enablehistory,
    feedsSubscribers: server.enablegraphsubscriptions,
    registry,
    encryptionSecrets: () => config.current.sessions.encryptionkey,
    clock,
    onDecision: (taken) => {
      metrics.decided(taken.decision.by);
      onDecision?.(taken);
    },
    onUnitEnded: (ended) => metrics.unitEnded(ended),
    hasListener: topicsWithListeners(listeners, () => config.current, false),
    hasListenerOnDemand: topicsWithListeners(listeners, () => config.current, true),
    failOnEnqueueError: () => config.current.workflows.dispatch.failonenqueueerror,
    configuredNames: () => ({
      entityTypes: config.current.ormconfig.entitytypes,
      hasWorkflows: config.current.workflows.enabled,
    }),
    observer: {
      statement: (report) => {
        metrics.statement(db.databasename, report.durationMs);
        // Read each time, because `db.debug` may change while the process runs.
        if (config.current.db.debug)
          logger.info({ duration_ms: report.durationMs, failed: report.isFailed }, report.text);
        for (const observer of observers) observer.statement(report);
      },
    },
  };
}
