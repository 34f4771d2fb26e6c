import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { CoreRuntime } from './core-runtime.ts';
import type { DueWorkRelay } from '#relay/due-work/due-work-relay.ts';
import type { Relay } from '#relay/outbox/relay.ts';
import { listenForEvents, OutboxPoller, type PollerOptions } from '#relay/outbox/wake-up.ts';

interface RelayingOptions {
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly relay: Relay;
  readonly dueWork: DueWorkRelay;
  readonly logger: Logger;
  readonly pauses: PollerOptions['pauses'];
}

/**
 * Wakes the relays after commits of this process, on notifications of others, at intervals, and when dispatching or backups are switched
 * on.
 * @returns stops that; the relays finish what they have claimed
 */
export function startRelaying({
  config,
  runtime,
  relay,
  dueWork,
  logger,
  pauses,
}: RelayingOptions): () => Promise<void> {
  const { jobqueue, db } = config.current;
  const wake = () => {
    relay.wake();
    dueWork.wake();
  };
  const poller = new OutboxPoller({ poll: wake, lastPollWasEmpty: () => relay.lastPollWasEmpty, pauses });
  const endings = [
    runtime.relayHere(wake),
    config.subscribe('workflows.dispatch', wake),
    config.subscribe('objectstorage', wake),
    config.subscribe('jobqueue.queueconf', () => poller.pollSoon()),
  ];
  const stopListening = jobqueue.queueconf.PollOnly
    ? undefined
    : listenForEvents({ url: db.primarydbsource, logger, onWake: () => poller.pollSoon() });
  return async () => {
    for (const end of endings) end();
    poller.stop();
    await stopListening?.();
  };
}
