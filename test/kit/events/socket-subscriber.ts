import { WebSocket, type ClientOptions } from 'ws';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { SubscriberMessage } from './event-subscriber.ts';

/** How long a test waits for a message before it fails, in milliseconds. */
const timeoutMs = 30_000;

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly payload?: any; // eslint-disable-line typescript/no-explicit-any -- answers are asserted, not typed
}

/** A websocket with the protocol graphql-transport-ws, as a program uses it. */
export class SocketSubscriber {
  readonly socket: WebSocket;
  /** With which code and reason it was closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #frames: Frame[] = [];
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;
  #ids = 0;

  /** @param url of the API, with http */
  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', options);
    this.socket.on('message', (data: Buffer) => {
      this.#frames.push(JSON.parse(data.toString()) as Frame);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    // Refused before it was one: tests look at the closing, or at `opened`.
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => {
        this.#isClosed = true;
        for (const wake of this.#waiting.splice(0)) wake();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  /** Opens one and says who it is. */
  static async open(url: string, options: ClientOptions = {}, payload?: object): Promise<SocketSubscriber> {
    const subscriber = new SocketSubscriber(url, options);
    await subscriber.opened();
    subscriber.send({ type: 'connection_init', ...(payload ? { payload } : {}) });
    const { type } = await subscriber.frame();
    if (type !== 'connection_ack') throw new Error(`not acknowledged: ${type}`);
    return subscriber;
  }

  /** Resolves when it is a websocket. @throws Error with the status otherwise */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('unexpected-response', (_request, response) => {
        reject(new Error(`status ${response.statusCode}`));
        this.socket.terminate();
      });
      this.socket.once('error', reject);
    });
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  /** @returns its id */
  subscribe(query: string, variables: object = {}): string {
    const id = String(++this.#ids);
    this.send({ id, type: 'subscribe', payload: { query, variables } });
    return id;
  }

  /** The next message about a subscription, or whatever it is. @throws Error when it was closed before */
  frame(): Promise<Frame> {
    return withTimeout(this.#frame(), timeoutMs, () => {
      throw new Error('no message came');
    });
  }

  async #frame(): Promise<Frame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame) return frame;
      if (this.#isClosed) {
        const { code, reason } = await this.closed;
        throw new Error(`closed: ${code} ${reason}`);
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
  }

  /** The result of the next message, which must be one; undefined for a complete subscription. */
  async next(): Promise<SubscriberMessage | undefined> {
    const { type, payload } = await this.frame();
    if (type === 'complete') return undefined;
    return type === 'error' ? { errors: payload } : (payload as SubscriberMessage);
  }

  close(): void {
    this.socket.close();
  }
}
