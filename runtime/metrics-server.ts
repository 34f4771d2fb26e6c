import { createServer, type Server } from 'node:http';
import type { Registry } from 'prom-client';

/**
 * Serves a registry at `/metrics` (`server.metricsport`), never on the API's own port.
 * Without a host it listens on every interface, of both IP versions where the machine has both.
 * @param beforeScrape brings the registry up to date
 * @returns the server, when it listens
 * @throws when the port is taken
 */
export async function serveMetrics(
  registry: Registry,
  { host, port }: { readonly host: string | undefined; readonly port: number },
  beforeScrape: () => void = () => {},
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Metrics are at /metrics.\n');
      return;
    }
    const scraped = async () => {
      beforeScrape();
      return registry.metrics();
    };
    scraped().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(host === undefined ? { port } : { host, port }, resolve);
  });
  return server;
}
