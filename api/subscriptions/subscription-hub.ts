import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import { AppError, isAppError, isRefusal } from '#entities/kit/base/errors.ts';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import type { FeedPosition } from '#entities/kit/outbox/feed-position.ts';
import type { ChangeFeed, Follower, ChangeBatch } from '#relay/changes/change-feed.ts';
import type { StreamCaller } from '../http/stream-caller.ts';
import type { Metrics } from '../http/http-metrics.ts';
import { RecordSubscription, type SubscribedTo } from './record-subscription.ts';
import { SubscriptionCursors } from './subscription-cursors.ts';
import { subscriptionLimits } from './subscription-limits.ts';
import { SubscriptionMetrics, type Transport } from './subscription-metrics.ts';

/** A connection of a client that can have subscriptions. */
export interface SubscriberConnection {
  readonly transport: Transport;
  readonly caller: StreamCaller;
  /** Milliseconds for which a message has waited that the client does not take; 0 if none does. */
  readonly stalledMs: number;
  /** Ends all subscriptions of the connection with the reason. Must not throw. */
  endWith(reason: AppError): void;
}

interface Connected {
  readonly subscriptions: Set<RecordSubscription>;
  readonly organizationId: string | null;
  readonly subjectId: string | null;
}

interface SubscriptionHubOptions {
  readonly feed: ChangeFeed;
  readonly config: ConfigStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** After how long without a change a subscriber gets a new cursor, in milliseconds, so that it stays usable. */
const positionMs = 600_000;

/** Part of `server.writetimeout` for which a client may take nothing: the rest is for the message about it. */
const stallShare = 0.75;

/** How many callers are checked again at the same time. */
const maxRechecks = 4;

/** All connections of this process that have subscriptions, and their changes. */
export class SubscriptionHub implements Follower {
  readonly cursors: SubscriptionCursors;
  readonly metrics: SubscriptionMetrics;
  readonly #options: SubscriptionHubOptions;
  readonly #connections = new Map<SubscriberConnection, Connected>();
  /** Connections by organization, and by person or token. */
  readonly #counts = new Map<string, number>();
  /** Subscriptions by kind, and by organization and kind. */
  readonly #byKind = new Map<string, Set<RecordSubscription>>();
  /** Connections whose caller may have changed. */
  readonly #suspects = new Set<SubscriberConnection>();
  #rechecks = 0;
  #subscriptions = 0;
  #stopped: AppError | undefined;

  constructor(options: SubscriptionHubOptions) {
    this.#options = options;
    this.cursors = new SubscriptionCursors(() => options.config.current.sessions.signingkey);
    this.metrics = new SubscriptionMetrics(options.metrics.registry, () => ({
      connections: this.#connections.size,
      subscriptions: this.#subscriptions,
    }));
  }

  /**
   * Registers a connection whose caller is known.
   * @returns ends it
   * @throws AppError subscriptions_disabled, shutting_down, too_many_requests, overloaded
   */
  async connect(connection: SubscriberConnection): Promise<() => void> {
    this.refuseUnlessEnabled();
    await connection.caller.recheck();
    if (this.#stopped) throw this.#stopped;
    const { organizationId, subjectId } = connection.caller.current;
    const owners = [`organization ${organizationId}`, `caller ${subjectId}`];
    this.#checkLimits(owners);
    for (const owner of owners) this.#counts.set(owner, this.#countOf(owner) + 1);
    this.#connections.set(connection, { subscriptions: new Set(), organizationId, subjectId });
    this.#options.feed.start(this);
    return () => {
      const connected = this.#connections.get(connection);
      if (!connected) return;
      this.#connections.delete(connection);
      this.#suspects.delete(connection);
      for (const subscription of connected.subscriptions) this.#remove(connected, subscription);
      for (const owner of owners) {
        const left = this.#countOf(owner) - 1;
        if (left > 0) this.#counts.set(owner, left);
        else this.#counts.delete(owner);
      }
      if (this.#connections.size === 0) void this.#options.feed.stop();
    };
  }

  /** @throws AppError subscriptions_disabled, shutting_down */
  refuseUnlessEnabled(): void {
    if (!this.#options.config.current.server.enablegraphsubscriptions)
      throw new AppError(
        'subscriptions_disabled',
        'This installation serves no subscriptions (server.enablegraphsubscriptions is off).',
      );
    if (this.#stopped) throw this.#stopped;
  }

  /**
   * Subscribes to changes: from the cursor on, or from now on.
   * @throws AppError invalid_input, cursor_expired, limit_exceeded, and those of the database
   */
  async subscribe(
    connection: SubscriberConnection,
    of: Omit<SubscribedTo, 'organizationId' | 'subjectId'>,
    after?: string | null,
  ): Promise<RecordSubscription> {
    const { feed } = this.#options;
    // Without a cursor, what was committed before is none of its business.
    for (let isAsked = after != null; !isAsked || !feed.position; isAsked = true) {
      this.#connected(connection);
      await feed.refresh();
    }
    const { position } = feed;
    const from: FeedPosition = after == null ? position : this.cursors.open(after, position);
    const connected = this.#connected(connection);
    if (connected.subscriptions.size >= subscriptionLimits.subscriptions)
      throw limitExceeded(
        `One connection can have ${subscriptionLimits.subscriptions} subscriptions; open another one.`,
        {
          path: '/query',
          message: `would be one of more than ${subscriptionLimits.subscriptions} subscriptions of the connection`,
        },
      );
    const { organizationId, subjectId } = connected;
    const subscription = new RecordSubscription(feed, from, { ...of, organizationId, subjectId });
    connected.subscriptions.add(subscription);
    this.#subscriptions++;
    for (const key of keysOf(subscription)) {
      const others = this.#byKind.get(key) ?? new Set();
      this.#byKind.set(key, others.add(subscription));
    }
    this.metrics.opened.inc({ transport: connection.transport });
    return subscription;
  }

  /** Resolves when all that is committed now was sent. @throws AppError of the database */
  told(): Promise<void> {
    return this.#options.feed.refresh();
  }

  /** @throws AppError when it has ended */
  #connected(connection: SubscriberConnection): Connected {
    const connected = this.#connections.get(connection);
    if (connected) return connected;
    throw this.#stopped ?? inputError([{ path: '/query', message: 'came on a connection that has ended' }]);
  }

  /** Ends a subscription. @param reason for the metrics */
  unsubscribe(connection: SubscriberConnection, subscription: RecordSubscription, reason: string): void {
    const connected = this.#connections.get(connection);
    if (!connected?.subscriptions.has(subscription)) return;
    this.metrics.ended.inc({ reason });
    this.#remove(connected, subscription);
  }

  /** Ends all subscriptions, for example because the process stops; no new ones begin. */
  stop(reason: AppError): void {
    this.#stopped = reason;
    for (const connection of this.#connections.keys()) connection.endWith(reason);
  }

  onChanges(batch: ChangeBatch): void {
    for (const change of batch.changes) {
      const key = change.organizationId === null ? change.kind : `${change.organizationId} ${change.kind}`;
      for (const subscription of this.#byKind.get(key) ?? []) subscription.receive(change, batch);
    }
    for (const { subscriptions } of this.#connections.values())
      for (const subscription of subscriptions) subscription.pass(batch);
  }

  onCallers(scopes: ReadonlySet<string>): void {
    for (const connection of this.#connections.keys())
      if (connection.caller.dependsOn(scopes)) this.#suspects.add(connection);
    this.#recheckSuspects();
  }

  onTick(): void {
    const { writetimeout } = this.#options.config.current.server;
    for (const [connection, { subscriptions }] of this.#connections) {
      if (connection.caller.hasExpired) this.#suspects.add(connection);
      if (connection.stalledMs >= writetimeout * stallShare) {
        this.#drop(connection, tooSlow());
        continue;
      }
      for (const subscription of subscriptions) if (subscription.quietMs >= positionMs) subscription.wantPosition();
    }
    this.#recheckSuspects();
  }

  #drop(connection: SubscriberConnection, reason: AppError): void {
    this.#options.logger.info(
      {
        code: reason.code,
        transport: connection.transport,
        subject: connection.caller.current.subjectId,
        organization_id: connection.caller.current.organizationId,
      },
      'a connection with subscriptions was ended',
    );
    connection.endWith(reason);
  }

  #recheckSuspects(): void {
    for (const connection of this.#suspects) {
      if (this.#rechecks >= maxRechecks) return;
      this.#suspects.delete(connection);
      this.#rechecks++;
      void this.#recheck(connection).finally(() => {
        this.#rechecks--;
        this.#recheckSuspects();
      });
    }
  }

  async #recheck(connection: SubscriberConnection): Promise<void> {
    const connected = this.#connections.get(connection);
    if (!connected) return;
    try {
      await connection.caller.recheck();
      if (connection.caller.current.organizationId !== connected.organizationId)
        this.#drop(connection, noLongerIn(connected.organizationId));
    } catch (error) {
      if (isRefusal(error)) this.#drop(connection, error as AppError);
      else {
        // The next tick tries again.
        this.#options.logger.warn({ err: error }, 'the caller of a subscription cannot be read now; trying again');
        setTimeout(() => this.#connections.has(connection) && this.#suspects.add(connection), 500).unref();
      }
    }
  }

  #checkLimits([organization = '', caller = '']: readonly string[]): void {
    if (this.#countOf(caller) >= subscriptionLimits.connectionsOfCaller)
      throw new AppError(
        'too_many_requests',
        `You have ${subscriptionLimits.connectionsOfCaller} connections with subscriptions; end one, or use one connection for several.`,
      );
    if (
      this.#connections.size >= subscriptionLimits.connections ||
      this.#countOf(organization) >= subscriptionLimits.connectionsOfOrganization
    )
      throw new AppError('overloaded', 'There are too many connections with subscriptions; try again later.', {
        details: { retryAfterSeconds: 60 },
      });
  }

  #countOf(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }

  #remove(connected: Connected, subscription: RecordSubscription): void {
    connected.subscriptions.delete(subscription);
    this.#subscriptions--;
    subscription.end();
    for (const key of keysOf(subscription)) {
      const others = this.#byKind.get(key);
      others?.delete(subscription);
      if (others?.size === 0) this.#byKind.delete(key);
    }
  }
}

/** Changes of records of no organization are sent to every subscriber of their kind. */
function keysOf({ of: { kinds, organizationId } }: RecordSubscription): string[] {
  return kinds.flatMap((kind) => [kind, ...(organizationId === null ? [] : [`${organizationId} ${kind}`])]);
}

function tooSlow(): AppError {
  return new AppError(
    'slow_consumer',
    'The client does not take its messages in time (server.writetimeout); subscribe again after the last cursor.',
  );
}

function noLongerIn(organizationId: string | null): AppError {
  return new AppError('permission_denied', `You no longer have access to the organization ${organizationId ?? ''}.`);
}

/** The name of a reason in metrics. */
export function endReason(error: unknown): string {
  return isAppError(error) ? error.code : 'internal';
}
