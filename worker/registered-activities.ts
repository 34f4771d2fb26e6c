import type { ConfigStore } from '#config/live/config-store.ts';
import { createAuthorizationActivities } from '#activities/authorization/authorization-activities.ts';
import { createEmailActivities } from '#activities/email/email-activities.ts';
import { createEventActivities } from '#activities/events/event-activities.ts';
import { resumeDeliveries } from '#activities/events/resume-deliveries.ts';
import { createMaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { emailTheme, emailTransport, publicApiUrl } from '#activities/clients/email/from-config.ts';
import { deriveKey } from '#entities/kit/base/keys.ts';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { CoreRuntime } from '#runtime/core-runtime.ts';
import type { Relay } from '#relay/outbox/relay.ts';
import type { Logger } from 'pino';

export interface ActivityParts {
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly logger: Logger;
  readonly relay: Relay;
  /** Over the connection of the workers, so that they begin at once what is started. */
  readonly temporal: TemporalGateway;
}

/** Rows, or desired tuples, that are compared in one transaction. */
const comparedAtOnce = 500;

/** History is an audit record: it is kept for ten years. */
const tenYearsMs = 10 * 365 * 86_400_000;

/**
 * Every activity of the release.
 * @param retentionMs how long ended workflows stay visible; events and deliveries are kept as long
 */
export function createActivities({ config, runtime, logger, relay, temporal }: ActivityParts, retentionMs: number) {
  const start = config.current;
  const { database, store, tuples, listeners } = runtime;
  const { clock } = database.options;
  const delivery = {
    database,
    temporal,
    logger,
    listeners,
    maxAttempts: () => config.current.workflows.dispatch.maxretries,
    queue: start.workflows.dispatch.queuename,
  };
  const events = createEventActivities(delivery);
  const applyTuples = async () => tuples?.apply() ?? 0;
  const { Test } = start.jobqueue.queueconf;
  return {
    ...events,
    ...createEmailActivities({
      database,
      transport: emailTransport(start),
      theme: () => emailTheme(config.current),
      apiUrl: () => publicApiUrl(config.current),
      tokenKey: deriveKey(start.sessions.signingkey, 'one-time-token'),
    }),
    ...createAuthorizationActivities({ database, store, applyTuples, pageSize: comparedAtOnce }),
    ...createMaintenanceActivities({
      database,
      logger,
      now: () => (Test.Time ? new Date(Test.Time) : clock.now()),
      rescueAfterMs: () => config.current.jobqueue.queueconf.RescueStuckJobsAfter,
      sweepEvents: (before) => relay.sweep(before),
      resumeDeliveries: (before) => resumeDeliveries(delivery, events, before),
      applyTuples,
      keep: () => ({ eventsMs: retentionMs, historyMs: tenYearsMs }),
    }),
  };
}
