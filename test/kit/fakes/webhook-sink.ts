import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the server of a customer gets it. */
export interface ReceivedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly path: string;
}

export interface SentBody {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly record?: Readonly<Record<string, unknown>> | null };
}

export interface SinkAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Never ends the answer. */
  readonly hangs?: true;
}

/** The server of a customer on this machine: keeps received messages, and answers as the test sets it. */
export class WebhookSink {
  readonly received: ReceivedMessage[] = [];
  /** Response to a message. */
  answer: (message: ReceivedMessage) => SinkAnswer = () => ({ status: 204 });
  /** Largest number of messages that were under way at the same time. */
  mostAtOnce = 0;
  readonly #server: Server;
  #atOnce = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.mostAtOnce = Math.max(this.mostAtOnce, ++this.#atOnce);
      response.once('close', () => this.#atOnce--);
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const message = {
          headers: request.headers,
          body: Buffer.concat(parts).toString(),
          path: request.url ?? '',
        };
        this.received.push(message);
        const { status, headers = {}, body, hangs } = this.answer(message);
        if (hangs) return;
        response.writeHead(status, headers).end(body);
      });
    });
  }

  /** @param port of one that was closed, which comes back; any other one when left out */
  static async open(port = 0): Promise<WebhookSink> {
    const sink = new WebhookSink();
    await new Promise<void>((resolve) => sink.#server.listen(port, '127.0.0.1', resolve));
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** The messages as JSON. */
  get bodies(): SentBody[] {
    return this.received.map(({ body }) => JSON.parse(body) as SentBody);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
