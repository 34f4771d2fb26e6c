import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Clock } from '#entities/kit/base/clock.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import type { AccessTokens } from '../auth/access-token.ts';
import type { Health } from './readiness.ts';
import type { Metrics } from './http-metrics.ts';
import type { InFlightRequests } from './in-flight-requests.ts';

/** What the routes of one process work with; assembled once in `start.ts`. */
export interface Services {
  readonly config: ConfigStore;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly accessTokens: AccessTokens;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly traffic: InFlightRequests;
  /** How the organization of callers counts for records of each kind. */
  readonly contextOfCallers: CoreRuntime['contextOfCallers'];
}
