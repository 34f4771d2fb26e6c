import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWK } from 'jose';

export type KeySetAnswer = readonly JWK[] | 'unavailable' | 'not JSON' | 'endless' | 'redirect';

/** Another server that publishes a key set. */
export interface KeySetServer {
  readonly url: string;
  /** Number of requests so far. */
  readonly count: () => number;
  answerWith(answer: KeySetAnswer): void;
  close(): Promise<void>;
}

export async function startKeySetServer(initial: KeySetAnswer): Promise<KeySetServer> {
  let answer = initial;
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    if (answer === 'unavailable') response.writeHead(503).end();
    else if (answer === 'not JSON') response.end('<html>');
    else if (answer === 'redirect') response.writeHead(302, { location: request.url ?? '/' }).end();
    else if (answer === 'endless') {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    } else response.end(JSON.stringify({ keys: answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/keys`,
    count: () => count,
    answerWith: (next) => {
      answer = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
