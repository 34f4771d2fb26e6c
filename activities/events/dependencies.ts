import type { Logger } from 'pino';
import type { TemporalGateway } from '../clients/temporal/temporal-client.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Database } from '#entities/kit/unit/database.ts';

export interface EventDependencies {
  readonly database: Database;
  readonly temporal: TemporalGateway;
  readonly logger: Logger;
  readonly listeners: readonly Listener[];
  /** Attempts of one delivery before it becomes a workflow of its own (`workflows.dispatch.maxretries`). */
  readonly maxAttempts: () => number;
  /** Activity queue of event delivery (`workflows.dispatch.queuename`). */
  readonly queue: string;
}
