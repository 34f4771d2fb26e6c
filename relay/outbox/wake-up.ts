import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '#entities/kit/unit/database.ts';

/** PostgreSQL channels: on one, processes notify the relays of waiting events, on the other those who follow changes of records. */
export type Channel = 'core_events' | 'core_changes';

/** Shortest pause between two notifications of one process, in milliseconds. */
const minPauseMs = 5;

/**
 * Notifies the relays of waiting events, after the commit and not inside it: NOTIFY in a transaction takes a server-wide lock
 * at COMMIT (docs/decisions/relay-in-the-worker.md). A notification that is lost only delays the events until the next poll.
 * @returns `stop` ends it; it resolves when the last notification has been sent, so that its connection can be closed
 */
export function createNotifier(
  database: Database,
  channel: Channel = 'core_events',
): {
  readonly notify: () => void;
  readonly stop: () => Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  let isStopped = false;
  let sending: Promise<unknown> = Promise.resolve();
  const send = () => {
    isWanted = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (isWanted) send();
    }, minPauseMs);
    timer.unref();
    sending = database.pool
      .query(`notify ${channel}`)
      .catch((error: unknown) => database.options.onBackgroundError(error, `notifying other processes on ${channel}`));
  };
  return {
    notify: () => {
      if (isStopped) return;
      if (timer) isWanted = true;
      else send();
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await sending;
    },
  };
}

interface ListenOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly onWake: () => void;
  readonly channel?: Channel;
}

/**
 * Listens for notifications on a connection of its own, and reconnects when it is lost. Polling finds the events whose
 * notifications were missed.
 * @returns stops listening
 */
export function listenForEvents({ url, logger, onWake, channel = 'core_events' }: ListenOptions): () => Promise<void> {
  let client: Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isStopped = false;

  const reconnect = (error: unknown) => {
    if (isStopped || retry) return;
    logger.warn({ err: error }, 'the listening connection was lost; polling continues meanwhile');
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, 1_000);
  };
  const connect = async () => {
    const next = new Client({ connectionString: url, application_name: 'core listener' });
    client = next;
    next.on('error', reconnect);
    next.on('end', () => reconnect(new Error('connection ended')));
    next.on('notification', onWake);
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      onWake();
    } catch (error) {
      reconnect(error);
    }
  };
  void connect();
  return async () => {
    isStopped = true;
    clearTimeout(retry);
    await client?.end().catch(() => {});
  };
}

export interface PollerOptions {
  /** Claims waiting events. */
  readonly poll: () => void;
  /** Whether the last poll found nothing. */
  readonly lastPollWasEmpty: () => boolean;
  /**
   * Read before every poll. `queueconf.FetchPollInterval`: longest pause between two polls; `queueconf.FetchCooldown`:
   * shortest pause after a poll that found nothing.
   */
  readonly pauses: () => { readonly maxMs: number; readonly cooldownMs: number };
}

/**
 * Polls for waiting events at intervals, and on notification: at once, unless the last poll found nothing, because then the
 * relays of other processes are faster.
 */
export class OutboxPoller {
  readonly #options: PollerOptions;
  #timer: NodeJS.Timeout | undefined;
  #polledAt = -Infinity;
  #isStopped = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#poll();
  }

  /** To be called on a notification, or when the pauses have changed. */
  pollSoon(): void {
    this.#arm(this.#options.lastPollWasEmpty() ? this.#options.pauses().cooldownMs : 0);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #poll(): void {
    this.#polledAt = performance.now();
    this.#options.poll();
    this.#arm(this.#options.pauses().maxMs);
  }

  #arm(pauseMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const sinceMs = performance.now() - this.#polledAt;
    this.#timer = setTimeout(() => this.#poll(), Math.max(0, pauseMs - sinceMs));
  }
}
