import type { WebSocket } from 'ws';
import type { AppError, ErrorCode } from '#entities/kit/base/errors.ts';
import type { StreamCaller } from '../../http/stream-caller.ts';
import type { SubscriberConnection } from '../../subscriptions/subscription-hub.ts';

/** Codes with which a websocket is closed (RFC 6455, section 7.4, and graphql-transport-ws); all others mean that the server has failed. */
const closeCodes: { readonly [Code in ErrorCode]?: number } = {
  unauthenticated: 4401,
  permission_denied: 4403,
  second_factor_required: 4403,
  foreign_origin: 4403,
  too_many_requests: 4429,
  invalid_input: 4400,
  overloaded: 1013,
  slow_consumer: 1013,
  database_busy: 1013,
  database_unavailable: 1013,
  deadline_exceeded: 1013,
  shutting_down: 1001,
};

const otherCode = 1011;

/** Longest reason of a close, in bytes (RFC 6455, section 5.5). */
const maxReasonBytes = 123;

/** Time for a client to close its side, in milliseconds. */
const goodbyeMs = 1_000;

/** Bytes that may wait for a client: what it provokes without reading it, such as pongs, is not kept beyond that. */
const maxWaitingBytes = 4_194_304;

/** A websocket with the protocol graphql-transport-ws. */
export class SocketConnection implements SubscriberConnection {
  readonly transport = 'websocket';
  readonly caller: StreamCaller;
  readonly #socket: WebSocket;
  #sending = 0;
  /** Since when nothing was taken, as `performance.now()`. */
  #waitsSince = 0;

  constructor(socket: WebSocket, caller: StreamCaller) {
    this.#socket = socket;
    this.caller = caller;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get stalledMs(): number {
    return this.#sending === 0 ? 0 : performance.now() - this.#waitsSince;
  }

  /** Resolves when the client has taken it, as far as the system knows, or has left. */
  async send(data: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.limitWaiting();
    if (this.#sending === 0) this.#waitsSince = performance.now();
    this.#sending++;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Of a connection that has ended, the error is that it has.
    this.#socket.send(data, () => resolve());
    await promise;
    this.#sending--;
    this.#waitsSince = performance.now();
  }

  /** Ends the connection of a client that provokes more than it reads. */
  limitWaiting(): void {
    if (this.#socket.bufferedAmount > maxWaitingBytes) this.#socket.terminate();
  }

  endWith(reason: AppError): void {
    this.close(closeCodes[reason.code] ?? otherCode, `${reason.code}: ${reason.message}`);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, shortReason(reason));
    setTimeout(() => this.#socket.terminate(), goodbyeMs).unref();
  }
}

function shortReason(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= maxReasonBytes
    ? reason
    : bytes
        .subarray(0, maxReasonBytes)
        .toString()
        .replace(/\uFFFD+$/, '');
}
