import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** A request as a fake has received it. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Instead of a body in JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is closed in the middle of the body. */
  readonly isHalf?: true;
  /** How often the text is sent, as fast as the receiver takes it. */
  readonly repeats?: number;
}

/** `silent`: the connection stays open without an answer; `cut`: it is closed without one. */
export type Answering = FakeAnswer | 'silent' | 'cut';

type Answer = (request: FakeRequest) => Answering | Promise<Answering>;

/** An HTTP server of a test, on a port of its own unless it is named, which answers in JSON and remembers what it was asked. */
export class HttpFake {
  readonly requests: FakeRequest[] = [];
  url = '';
  readonly #server;

  private constructor(answer: Answer) {
    this.#server = createServer((incoming, response) => void this.#handle(incoming, response, answer));
  }

  static async start(answer: Answer, port = 0): Promise<HttpFake> {
    const fake = new HttpFake(answer);
    fake.#server.listen(port, '127.0.0.1');
    await once(fake.#server, 'listening');
    fake.url = `http://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    return fake;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse, answer: Answer) {
    let body = '';
    for await (const chunk of incoming as AsyncIterable<Buffer>) body += chunk.toString();
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? '/', 'http://fake');
    const request = { method: incoming.method ?? '', path, query, headers: incoming.headers, body };
    this.requests.push(request);
    const given = await answer(request);
    if (given === 'silent') return;
    if (given === 'cut') {
      incoming.socket.destroy();
      return;
    }
    const text = given.text ?? JSON.stringify(given.body);
    const length = given.isHalf ? { 'content-length': String(Buffer.byteLength(text)) } : {};
    response.writeHead(given.status, { 'content-type': 'application/json', ...length, ...given.headers });
    if (given.repeats !== undefined) Readable.from(repeated(text, given.repeats)).pipe(response);
    else if (given.isHalf) response.write(text.slice(0, text.length / 2), () => response.destroy());
    else response.end(text);
  }
}

function* repeated(text: string, times: number): Generator<string> {
  for (let sent = 0; sent < times; sent++) yield text;
}
