import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A write as it goes to OpenFGA (POST /stores/{id}/write). */
export interface TupleWrite {
  readonly writes: readonly { readonly user: string; readonly relation: string; readonly object: string }[];
  readonly deletes: readonly { readonly user: string; readonly relation: string; readonly object: string }[];
}

/** Stands before a real OpenFGA, sees what is written and can make writes slow, or everything unavailable. */
export class OpenfgaProxy {
  readonly writes: TupleWrite[] = [];
  /** Every request that arrived. */
  readonly requests: { readonly path: string; readonly authorization: string | undefined }[] = [];
  url = '';
  /** Called before a write is passed on; the write waits for it. */
  beforeWrite: (write: TupleWrite) => Promise<void> = async () => {};
  /** Answers everything with 503. */
  isAway = false;
  /** Takes requests and never answers them. */
  isSilent = false;
  readonly #target: URL;
  readonly #server = createServer((incoming, response) => {
    this.#forward(incoming, response).catch(() => response.destroy());
  });

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  static async start(target: string): Promise<OpenfgaProxy> {
    const proxy = new OpenfgaProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    proxy.url = `http://127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return proxy;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    this.requests.push({ path: incoming.url ?? '', authorization: incoming.headers.authorization });
    if (this.isSilent) return;
    if (this.isAway) {
      response.writeHead(503).end();
      return;
    }
    if (incoming.method === 'POST' && incoming.url?.endsWith('/write')) {
      const { writes, deletes } = JSON.parse(body.toString()) as Record<string, { tuple_keys: TupleWrite['writes'] }>;
      const write = { writes: writes?.tuple_keys ?? [], deletes: deletes?.tuple_keys ?? [] };
      this.writes.push(write);
      await this.beforeWrite(write);
    }
    const onward = request(
      {
        host: this.#target.hostname,
        port: this.#target.port,
        path: incoming.url,
        method: incoming.method,
        headers: incoming.headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    onward.end(body);
  }
}
