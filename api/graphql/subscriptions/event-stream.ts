import { Readable } from 'node:stream';
import type { ExecutionResult } from 'graphql';
import { isAppError, type AppError } from '#entities/kit/base/errors.ts';
import type { StreamCaller } from '../../http/stream-caller.ts';
import type { SubscriberConnection } from '../../subscriptions/subscription-hub.ts';
import type { OperationStream } from './operation-stream.ts';

/** Bytes that wait for the client before the next message is made. */
const maxWaitingBytes = 65_536;

/** Longest pause between two bytes, in milliseconds: proxies close connections on which nothing is sent. */
const maxQuietMs = 12_000;

/**
 * The messages of one subscription as server-sent events, one connection for each (GraphQL over SSE, distinct connections mode). The next
 * message is made when the client has taken the ones before.
 */
export class EventStream extends Readable implements SubscriberConnection {
  readonly transport = 'sse';
  readonly caller: StreamCaller;
  readonly #present: (error: unknown) => ExecutionResult;
  readonly #ping: NodeJS.Timeout;
  #messages: OperationStream | undefined;
  #isPulling = false;
  #isEnding = false;
  /** Since when the client has not asked for more, as `performance.now()`; undefined while it waits. */
  #fullSince: number | undefined;

  /** @param writeTimeoutMs `server.writetimeout`: a connection on which nothing moves for this time is cut */
  constructor(caller: StreamCaller, writeTimeoutMs: number, present: (error: unknown) => ExecutionResult) {
    super({ highWaterMark: maxWaitingBytes });
    this.caller = caller;
    this.#present = present;
    // A line that clients ignore. The first one sends the headers, for which some clients wait.
    this.push(':\n\n');
    this.#ping = setInterval(
      () => {
        if (this.#fullSince === undefined && !this.#isEnding) this.push(':\n\n');
      },
      Math.min(maxQuietMs, writeTimeoutMs / 3),
    );
    this.once('close', () => {
      clearInterval(this.#ping);
      void this.#messages?.return();
    });
  }

  get stalledMs(): number {
    return this.#fullSince === undefined ? 0 : performance.now() - this.#fullSince;
  }

  /** Begins to send. */
  send(messages: OperationStream): void {
    this.#messages = messages;
    if (this.destroyed || this.#isEnding) void messages.return();
    else void this.#pull();
  }

  endWith(reason: AppError): void {
    this.#finish(reason);
  }

  override _read(): void {
    this.#fullSince = undefined;
    void this.#pull();
  }

  async #pull(): Promise<void> {
    if (this.#isPulling || !this.#messages || this.#isEnding) return;
    this.#isPulling = true;
    try {
      for (;;) {
        const { done, value } = await this.#messages.next();
        if (this.#isEnding || this.destroyed) return;
        if (done) {
          this.#finish();
          return;
        }
        if (!this.push(event('next', value))) {
          this.#fullSince = performance.now();
          return;
        }
      }
    } catch (error) {
      this.#finish(error);
    } finally {
      this.#isPulling = false;
    }
  }

  /** The last event says why. */
  #finish(reason?: unknown): void {
    if (this.#isEnding || this.destroyed) return;
    this.#isEnding = true;
    if (reason !== undefined) this.push(event('next', this.#present(reason)));
    this.push('event: complete\ndata:\n\n');
    this.push(null);
    clearInterval(this.#ping);
    void this.#messages?.return();
    if (!isAppError(reason) || reason.code !== 'slow_consumer') return;
    // A client that does not read does not receive the error either.
    setTimeout(() => this.destroy(), 1_000).unref();
  }
}

function event(name: string, value: ExecutionResult): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}
