import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '#entities/kit/unit/database.ts';

/** PostgreSQL channel on which processes tell the relays that events wait. */
const channel = 'core_events';

/** Shortest pause between two notifications of one process, in milliseconds. */
const pauseMs = 5;

/**
 * Tells the relays that events wait, after the commit and not inside it: NOTIFY in a transaction takes a lock of the whole
 * server at COMMIT (docs/decisions/relay-in-the-worker.md). Losing one costs nothing but a poll.
 */
export function createNotifier(database: Database): { readonly notify: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let isWanted = false;
  const send = () => {
    isWanted = false;
    timer = setTimeout(() => {
      timer = undefined;
      if (isWanted) send();
    }, pauseMs);
    timer.unref();
    database.pool
      .query(`notify ${channel}`)
      .catch((error: unknown) => database.options.onBackgroundError(error, 'telling the relays of waiting events'));
  };
  return {
    notify: () => {
      if (timer) isWanted = true;
      else send();
    },
    stop: () => clearTimeout(timer),
  };
}

export interface ListenOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly onWake: () => void;
}

/**
 * Listens for notifications on a connection of its own, and connects again when it is lost. Polling finds what was missed
 * in between.
 * @returns ends the listening
 */
export function listenForEvents({ url, logger, onWake }: ListenOptions): () => Promise<void> {
  let client: Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isStopped = false;

  const reconnect = (error: unknown) => {
    if (isStopped || retry) return;
    logger.warn({ err: error }, 'the listening connection was lost; polling goes on meanwhile');
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
  /** Looks for waiting events. */
  readonly look: () => void;
  /** Whether the last look found nothing. */
  readonly lastPollWasEmpty: () => boolean;
  /**
   * Read at every look. `queueconf.FetchPollInterval`: longest pause between two looks; `queueconf.FetchCooldown`: shortest
   * one after a look that found nothing.
   */
  readonly pauses: () => { readonly maxMs: number; readonly cooldownMs: number };
}

/**
 * Looks for waiting events every now and then, and when it is told of some: at once, unless the last look was in vain,
 * because then others are quicker.
 */
export class OutboxPoller {
  readonly #options: PollerOptions;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = -Infinity;
  #isStopped = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#look();
  }

  /** Another process told of waiting events, or the pauses have changed. */
  pollSoon(): void {
    this.#arm(this.#options.lastPollWasEmpty() ? this.#options.pauses().cooldownMs : 0);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #look(): void {
    this.#lookedAt = performance.now();
    this.#options.look();
    this.#arm(this.#options.pauses().maxMs);
  }

  #arm(pauseMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const sinceMs = performance.now() - this.#lookedAt;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, pauseMs - sinceMs));
  }
}
