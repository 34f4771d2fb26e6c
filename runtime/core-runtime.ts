import { join } from 'node:path';
import { GuardedCache } from '#activities/clients/cache/guarded-cache.ts';
import { CachePool } from '#activities/clients/cache/cache-pool.ts';
import { allowsInCache, allowsInMemory } from '#activities/clients/cache/allow-cache.ts';
import type { RateCounters } from '#activities/clients/cache/rate-counters.ts';
import { usedCodesInCache, usedCodesNowhere, type UsedCodes } from '#activities/clients/cache/used-codes.ts';
import { EndedSessions } from '#activities/clients/cache/ended-sessions.ts';
import type { EmailNetwork } from '#activities/clients/email-validation/email-validator.ts';
import { textRecordsOf } from '#activities/clients/email-validation/text-records.ts';
import { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { listeners as productListeners } from '#activities/listeners/index.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { announceEndedSession } from '#activities/listeners/identity/announce-ended-session.listener.ts';
import { configuredMiddleware } from '#activities/clients/temporal/job-middleware.ts';
import { JobMetrics } from '#activities/clients/temporal/job-metrics.ts';
import { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { PaymentProvider } from '#activities/clients/payment/payment-provider.ts';
import { configuredPayment, type PaymentProviderSettings } from '#activities/clients/payment/configured-payment.ts';
import type { TemporalEnvironment } from '#config/reading/standard-variables.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { registry as productRegistry } from '#entities/index.ts';
import type { DefinitionMeans } from '#entities/automation/document/check-definition.ts';
import type { Expressions } from '#entities/automation/document/expressions.ts';
import type { Authorizer } from '#entities/kit/access/authorizer.ts';
import { systemClock } from '#entities/kit/base/clock.ts';
import { Database } from '#entities/kit/unit/database.ts';
import { entitled, type Entitled, type HeldEntitlements } from '#entities/kit/access/entitled.ts';
import type { Registry as EntityRegistry } from '#entities/kit/model/registry.ts';
import { ParentContexts, type ContextOfCallers } from '#relay/authorization/parent-context.ts';
import { StoreAuthorizer } from '#relay/authorization/store-authorizer.ts';
import { TupleApplying } from '#relay/tuples/tuple-applying.ts';
import { TupleRelay } from '#relay/tuples/tuple-relay.ts';
import { ChangeFeed } from '#relay/changes/change-feed.ts';
import { createNotifier } from '#relay/outbox/wake-up.ts';
import { ProviderAccess, type ProviderSettings } from '#activities/clients/integrations/provider-access.ts';
import { FileReceiver } from '#activities/clients/storage/receiving/file-receiver.ts';
import type { ObjectStorage } from '#activities/clients/storage/object-storage.ts';
import { StorageMetrics } from '#activities/clients/storage/storage-metrics.ts';
import { authorizationStoreSettings } from './authorization-store-settings.ts';
import { configuredDatabase, type DatabaseParts } from './configured-database.ts';
import { configuredRateCounters } from './configured-rate-counters.ts';
import { configuredStorage } from './configured-storage.ts';
import { watchBacklog } from './metrics/backlog-gauges.ts';
import { CoreMetrics } from './metrics/core-metrics.ts';
import { newRegistry, type MetricsRegistry } from './metrics/process-metrics.ts';
import { temporalSettings } from './temporal-settings.ts';
import { warnOfMissingRules } from './warn-of-missing-rules.ts';
import { workflowEngine } from './workflow-engine.ts';

/** Services shared by API and worker. */
export interface CoreRuntime {
  readonly config: ConfigStore;
  readonly database: Database;
  readonly temporal: TemporalGateway;
  /** Undefined while `authz.enabled` is off. */
  readonly store: AuthorizationStore | undefined;
  readonly tuples: TupleRelay | undefined;
  /** Undefined while `auth.token.cache.enabled` is off. */
  readonly endedSessions: EndedSessions | undefined;
  /** The part of a caller that comes from settings: kinds for which the organization applies, and what it may use. */
  readonly contextOfCallers: () => Promise<
    ContextOfCallers & { readonly entitled: (held: HeldEntitlements) => Entitled }
  >;
  readonly listeners: readonly Listener[];
  readonly metrics: CoreMetrics;
  readonly jobMetrics: JobMetrics;
  /** Resolves when the cache answers; undefined while `cache.enabled` is off. */
  readonly pingCache: (() => Promise<unknown>) | undefined;
  readonly usedCodes: UsedCodes;
  readonly rateCounters: RateCounters;
  readonly storage: ObjectStorage;
  readonly storageMetrics: StorageMetrics;
  readonly fileReceiver: FileReceiver;
  /** Committed changes of records, for subscribers. Nothing is read before it is started. */
  readonly changeFeed: ChangeFeed;
  /** Expressions of workflow definitions (CEL). Threads begin with the first one. */
  readonly expressions: Expressions;
  readonly definitionMeans: DefinitionMeans;
  /** The payment provider; undefined while `subscription.enabled` is off. */
  readonly payment: () => PaymentProvider | undefined;
  /** The other systems of integrations. */
  readonly integrations: ProviderAccess;
  /** The text records of a name in the DNS (email-validation/text-records.ts). */
  readonly textRecords: (name: string) => Promise<readonly string[]>;
  /** To be called when rows have become due that no commit reports. */
  wakeRelays(): void;
  /**
   * Lets this process relay by itself: after a commit with events `wake` is called, instead of notifying other processes.
   * @returns ends that
   */
  relayHere(wake: () => void): () => void;
  close(): Promise<void>;
}

export interface CoreRuntimeOptions extends DatabaseParts {
  readonly temporalEnvironment: TemporalEnvironment;
  /** Folder of files that this installation has on this machine. */
  readonly stateFolder: string;
  /** Where metrics are exported. */
  readonly metrics?: MetricsRegistry;
  /** Those of the product, unless a test brings its own. */
  readonly listeners?: readonly Listener[];
  /** Servers that are asked about e-mail addresses and their domains. */
  readonly emailNetwork?: Partial<EmailNetwork>;
  /** Where the payment provider is, for tests. */
  readonly payment?: PaymentProviderSettings;
  /** Where the other systems of integrations are, for tests. */
  readonly integrations?: ProviderSettings;
  /** For tests that bring kinds of their own. */
  readonly registry?: EntityRegistry;
}

/**
 * Composition root: assembles the services from the configuration. Nothing connects yet.
 * @throws ConfigurationError for a model file, or conditions of the parent context, that cannot be used
 */
export async function openRuntime(options: CoreRuntimeOptions): Promise<CoreRuntime> {
  const { config, logger, clock = systemClock, registry = productRegistry } = options;
  const start = config.current;
  const listeners = (options.listeners ?? productListeners).filter(
    (listener) => listener !== announceEndedSession || start.auth.token.cache.enabled,
  );
  warnOfMissingRules(registry, logger);

  const exported = options.metrics ?? newRegistry();
  const metrics = new CoreMetrics(exported);
  const store = start.authz.enabled
    ? new AuthorizationStore(await authorizationStoreSettings(start, registry), (call) => metrics.storeCalled(call))
    : undefined;
  const engine = workflowEngine(config, registry);
  let authorizer: Authorizer | undefined;
  const database = await Database.open({
    ...configuredDatabase(options, registry, listeners, metrics),
    ...engine.databaseOptions,
    // Set below: the authorizer applies tuples, and their relay needs the database.
    get authorizer() {
      return authorizer;
    },
  });

  metrics.watchDatabase(database);
  watchBacklog(database, exported, logger);
  const storageMetrics = new StorageMetrics(exported);
  const storage = configuredStorage(config, database, options.stateFolder, { metrics: storageMetrics, logger });
  const fileReceiver = new FileReceiver({
    storage,
    settings: () => config.current.objectstorage,
    mime: () => config.current.server.mime,
    folder: join(options.stateFolder, 'uploads'),
    stallTimeoutMs: () => config.current.server.writetimeout,
    // The sweep of uploads removes what could not be removed at once.
    onBackgroundError: (error, doing) => logger.warn({ err: error }, `failed: ${doing}`),
  });
  const jobMetrics = new JobMetrics({
    registry: exported,
    unit: start.jobqueue.metrics.metricsdurationunit,
  });
  const middleware = configuredMiddleware('start', start.jobqueue, { logger, metrics: jobMetrics });
  const temporal = new TemporalGateway(temporalSettings(start, options.temporalEnvironment, middleware));

  // A connection of its own: requests wait for the relay of tuples while they hold theirs.
  const tupleDatabase = database.sibling(1);
  const tuples =
    store && new TupleRelay({ database: tupleDatabase, store, maxBatch: () => config.current.authz.maxbatchwritesize });
  const applying = tuples && new TupleApplying(tuples, logger);
  const onCacheError = (error: unknown) => logger.warn({ err: error }, 'the cache connection failed');
  const cache = start.cache.enabled ? new CachePool(start.cache, onCacheError) : undefined;
  const endedSessions = EndedSessions.of(start, cache, onCacheError);
  metrics.watchCache(cache);
  const guarded = cache && new GuardedCache(cache, (question) => metrics.cacheAsked(question));
  if (store && tuples) {
    const allows = guarded ? allowsInCache(guarded, start.authz.storename) : allowsInMemory();
    authorizer = new StoreAuthorizer({ store, tuples, allows });
  }
  const contexts = new ParentContexts({ registry, store, settings: () => config.current.authz, logger });

  const notifier = createNotifier(database);
  const followers = createNotifier(database, 'core_changes');
  const changeFeed = new ChangeFeed({ database, url: start.db.primarydbsource, logger });
  let wakeRelays = () => notifier.notify();
  database.onCommit(async (summary) => {
    if (summary.pendingEvents > 0 || summary.objectChanges > 0) wakeRelays();
    if (summary.feedChanges > 0) followers.notify();
    await applying?.afterCommit(summary);
  });

  return {
    config,
    database,
    temporal,
    store,
    tuples,
    endedSessions,
    contextOfCallers: async () => ({
      ...(await contexts.ofCallers()),
      entitled: (held) => entitled(held, config.current, clock.now()),
    }),
    listeners,
    metrics,
    pingCache: cache && (() => cache.use((connection) => connection.ping())),
    jobMetrics,
    storageMetrics,
    storage,
    fileReceiver,
    changeFeed,
    expressions: engine.expressions,
    definitionMeans: engine.definitionMeans,
    payment: configuredPayment(config, options.payment ?? {}),
    integrations: new ProviderAccess({
      config,
      database,
      ...(options.integrations && { settings: options.integrations }),
    }),
    textRecords: (name) => textRecordsOf(options.emailNetwork ?? {}, name),
    rateCounters: configuredRateCounters(options, guarded),
    usedCodes: guarded ? usedCodesInCache(guarded, start.authz.storename) : usedCodesNowhere,
    wakeRelays: () => wakeRelays(),
    relayHere: (wake) => {
      wakeRelays = wake;
      return () => {
        wakeRelays = () => notifier.notify();
      };
    },
    close: async () => {
      await changeFeed.stop();
      await Promise.all([notifier.stop(), followers.stop()]);
      applying?.stop();
      endedSessions?.close();
      cache?.close();
      storage.close();
      await engine.close();
      await temporal.close();
      await tupleDatabase.close();
      await database.close();
    },
  };
}
