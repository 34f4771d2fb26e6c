import type { GuardedCache } from '#activities/clients/cache/guarded-cache.ts';
import { HeldRateCounters, type RateCounters } from '#activities/clients/cache/rate-counters.ts';
import { SharedRateCounters } from '#activities/clients/cache/shared-rate-counters.ts';
import { systemClock, type Clock } from '#entities/kit/base/clock.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { Logger } from 'pino';

interface Parts {
  readonly config: ConfigStore;
  readonly logger: Logger;
  readonly clock?: Clock;
}

/** Counters of requests: shared by all processes if there is a cache. */
export function configuredRateCounters(
  { config, logger, clock = systemClock }: Parts,
  cache?: GuardedCache,
): RateCounters {
  const held = new HeldRateCounters(clock);
  if (!cache) return held;
  const { authz, ratelimit, ratelimitunmatched } = config.current;
  const shared = new SharedRateCounters({ cache, prefix: authz.storename, held, logger });
  if ([ratelimit, ratelimitunmatched].some(({ enabled, dryrun }) => enabled || dryrun)) shared.connect();
  return shared;
}
