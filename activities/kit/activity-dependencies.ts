import type { Logger } from 'pino';
import type { StorageMetrics } from '../clients/storage/storage-metrics.ts';
import type { FileReceiver } from '../clients/storage/receiving/file-receiver.ts';
import type { ObjectStorage } from '../clients/storage/object-storage.ts';
import type { ChatSettings } from '../clients/chat/chat-target.ts';
import type { PaymentProvider } from '../clients/payment/payment-provider.ts';
import type { EmailProviderSettings } from '../clients/email/from-config.ts';
import type { EndedSessions } from '../clients/cache/ended-sessions.ts';
import type { AuthorizationStore } from '../clients/fga/authorization-store.ts';
import type { TemporalGateway } from '../clients/temporal/temporal-client.ts';
import type { ProviderAccess } from '../clients/integrations/provider-access.ts';
import type { Listener } from '../listeners/listener.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Expressions } from '#entities/automation/document/expressions.ts';
import type { CallerContext } from '#entities/kit/access/principal-state.ts';
import type { DeliveryReport } from '#entities/kit/outbox/delivery-report.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';

/** Services that the worker gives to the activities of every area; each area takes what it needs. */
export interface ActivityDependencies {
  readonly config: ConfigStore;
  readonly database: Database;
  /** Over the connection of the workers, so that workflows it starts begin at once in this process. */
  readonly temporal: TemporalGateway;
  /** Undefined while `authz.enabled` is off. */
  readonly store: Pick<AuthorizationStore, 'find' | 'tuplePage'> | undefined;
  /** Undefined while `auth.token.cache.enabled` is off. */
  readonly endedSessions: Pick<EndedSessions, 'add'> | undefined;
  readonly storage: ObjectStorage;
  readonly storageMetrics: StorageMetrics;
  readonly fileReceiver: Pick<FileReceiver, 'check' | 'limitsOf' | 'newLocation' | 'receive' | 'removeIncoming'>;
  /** Where the providers of e-mail are; empty except in tests. */
  readonly emailProviders: EmailProviderSettings;
  /** Where the operator's chat is; empty except in tests. */
  readonly chat: ChatSettings;
  /** Context that the organization of a person adds to a caller, for work that has their rights. */
  readonly contextOfCallers: () => Promise<CallerContext>;
  /** Expressions of workflow definitions (CEL). */
  readonly expressions: Expressions;
  /** The payment provider; undefined while `subscription.enabled` is off. */
  readonly payment: () => PaymentProvider | undefined;
  /** The other systems of integrations. */
  readonly integrations: ProviderAccess;
  /** The text records of a name in the DNS. */
  readonly textRecords: (name: string) => Promise<readonly string[]>;
  readonly logger: Logger;
  readonly listeners: readonly Listener[];
  /** Called with every delivery, and with every attempt at one that failed. */
  readonly onDelivery: (report: DeliveryReport) => void;
  /** Called at the end of each run of a sweep. */
  readonly onSwept: (sweep: string, report: SweepReport) => void;
  /** Called when rows differed from what the payment provider has, with the number of differences, which are repaired. */
  readonly onBillingRepaired: (differences: number) => void;
  /** Brings the authorization store to the desired tuples; returns how many were written. */
  readonly applyTuples: () => Promise<number>;
  /** To be called when due work was committed without an event. */
  readonly wakeRelays: () => void;
  /** Starts batches of events that were claimed before that time and not delivered; returns how many. */
  readonly sweepEvents: (before: Date) => Promise<number>;
}

/** Activities by name, which is their Temporal type. */
export type ActivityMap = Readonly<Record<string, (input: never) => Promise<unknown>>>;

/**
 * The activities of one area. The worker finds them by their file, `activities/<area>/<name>-activities.ts`, and by their
 * name, `create<Name>Activities`; this only checks that they need nothing that it does not give.
 */
export function defineActivities<Create extends (dependencies: ActivityDependencies) => ActivityMap>(
  create: Create,
): Create {
  return create;
}
