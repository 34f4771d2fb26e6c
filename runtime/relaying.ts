import type { Logger } from 'pino';
import type { ConfigStore } from '#config/live/config-store.ts';
import type { CoreRuntime } from './core-runtime.ts';
import type { Relay } from '#relay/outbox/relay.ts';
import { listenForEvents, OutboxPoller, type PollerOptions } from '#relay/outbox/wake-up.ts';

export interface RelayingOptions {
  readonly config: ConfigStore;
  readonly runtime: CoreRuntime;
  readonly relay: Relay;
  readonly logger: Logger;
  readonly pauses: PollerOptions['pauses'];
}

/**
 * Wakes a relay after commits of this process, on notifications of others, at intervals, and when dispatching is switched on.
 * @returns stops that; the relay finishes what it has claimed
 */
export function startRelaying({ config, runtime, relay, logger, pauses }: RelayingOptions): () => Promise<void> {
  const { jobqueue, db } = config.current;
  const poller = new OutboxPoller({ poll: () => relay.wake(), lastPollWasEmpty: () => relay.lastPollWasEmpty, pauses });
  const endings = [
    runtime.relayHere(() => relay.wake()),
    config.subscribe('workflows.dispatch', () => relay.wake()),
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
