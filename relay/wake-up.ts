import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database } from '#entities/kit/database.ts';

/** PostgreSQL channel on which processes tell each other that events wait. */
const channel = 'core_events';

/** Shortest pause between two notifications of one process, in milliseconds. */
const pauseMs = 100;

/**
 * Tells other processes that events wait, after the commit and not inside it: NOTIFY in a transaction takes a lock of the
 * whole server at COMMIT. Losing one costs nothing but a poll.
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
      .catch((error: unknown) => database.options.onBackgroundError(error, 'notifying other processes'));
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
  /** Read at every look. `queueconf.FetchPollInterval`: longest pause; `queueconf.FetchCooldown`: shortest one. */
  readonly pauses: () => { readonly longestMs: number; readonly shortestMs: number };
}

/** Looks for waiting events every now and then, and soon after being told of some, but never hurries. */
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
  hurry(): void {
    this.#arm(this.#options.pauses().shortestMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #look(): void {
    this.#lookedAt = performance.now();
    this.#options.look();
    this.#arm(this.#options.pauses().longestMs);
  }

  #arm(pauseMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    const sinceMs = performance.now() - this.#lookedAt;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, pauseMs - sinceMs));
  }
}
