import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';

/**
 * Serves a registry at `/metrics` (`server.metricsport`), never on the API's own port.
 * @param beforeScrape brings the registry up to date
 * @returns the server, when it listens
 * @throws when the port is taken
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: { readonly host: string; readonly port: number },
  beforeScrape: () => void = () => {},
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Metrics are at /metrics.\n');
      return;
    }
    beforeScrape();
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
