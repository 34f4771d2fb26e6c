import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An issuer's token endpoint for client credentials (RFC 6749, section 4.4). */
export class TokenEndpoint {
  /** Form fields of every request. */
  readonly asked: Readonly<Record<string, string>>[] = [];
  url = '';
  /** Seconds for which the tokens to come are good. */
  expiresInS = 3_600;
  /** Refuses every client, repeating what it sent as careless issuers do. */
  isRefusing = false;
  readonly #server = createServer((incoming, response) => {
    void (async () => {
      let body = '';
      for await (const chunk of incoming as AsyncIterable<Buffer>) body += chunk.toString();
      this.asked.push(Object.fromEntries(new URLSearchParams(body)));
      response.setHeader('content-type', 'application/json');
      if (this.isRefusing) {
        response.writeHead(401).end(JSON.stringify({ error: 'invalid_client', error_description: body }));
        return;
      }
      const access_token = `given-${this.asked.length}`;
      response.end(JSON.stringify({ access_token, token_type: 'Bearer', expires_in: this.expiresInS }));
    })();
  });

  static async start(): Promise<TokenEndpoint> {
    const endpoint = new TokenEndpoint();
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    endpoint.url = `http://127.0.0.1:${(endpoint.#server.address() as AddressInfo).port}`;
    return endpoint;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
