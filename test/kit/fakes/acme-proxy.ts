import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Options {
  /** Of the proxy, in PEM. */
  readonly cert: string;
  readonly key: string;
  /** Port of the authority on this machine. */
  readonly target: number;
}

/** An answer of the authority. */
export interface AcmeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Stands before a real certificate authority, sees what is asked, and can refuse, be silent or change answers. */
export class AcmeProxy {
  /** Paths that were asked, with their methods. */
  readonly requests: string[] = [];
  /** Bodies of them, which are signed by the account. */
  readonly bodies: string[] = [];
  url = '';
  /** Called before a request is passed on. The result is the response instead; `silent`: no response. */
  instead: (path: string) => AcmeAnswer | 'silent' | undefined = () => undefined;
  /** Called before a request is passed on; the request waits for it. */
  before: (path: string) => Promise<void> = async () => {};
  /** Changes an answer. */
  change: (path: string, answer: AcmeAnswer) => AcmeAnswer = (_path, answer) => answer;
  readonly #target: number;
  readonly #answered: string[] = [];
  readonly #server;

  private constructor({ cert, key, target }: Options) {
    this.#target = target;
    this.#server = createServer({ cert, key }, (incoming, response) => {
      this.#forward(incoming, response).catch(() => response.destroy());
    });
  }

  static async start(options: Options): Promise<AcmeProxy> {
    const proxy = new AcmeProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.url = `https://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  /** How often this was answered with success: the authority refuses some requests as if by chance. @param path its beginning */
  count(path: string): number {
    return this.#answered.filter((asked) => asked.startsWith(path)).length;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const path = incoming.url ?? '';
    this.requests.push(`${incoming.method} ${path}`);
    this.bodies.push(body);
    await this.before(path);
    const instead = this.instead(path);
    if (instead === 'silent') return;
    const answer = instead ?? this.change(path, await this.#ask(incoming, body));
    if (answer.status < 300) this.#answered.push(path);
    const { 'content-length': _length, 'transfer-encoding': _coding, ...headers } = answer.headers;
    response.writeHead(answer.status, headers).end(answer.body);
  }

  /** The authority makes its addresses from the header Host, so they lead here. */
  async #ask({ url, method, headers }: IncomingMessage, body: string): Promise<AcmeAnswer> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#target, path: url, method, headers, agent: false };
      const onward = request(options, (answer) => {
        textOf(answer).then(
          (text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
          reject,
        );
      });
      onward.once('error', reject);
      onward.end(body);
    });
  }
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
