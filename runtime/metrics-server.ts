import { createServer, type Server } from 'node:http';
import type { MetricsRegistry } from './metrics/process-metrics.ts';

/** Prometheus' own text format, which programs without OpenMetrics read. */
const plainType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Serves a registry at `/metrics` (`server.metricsport`), never on the API's own port: in OpenMetrics, which has exemplars, for those
 * who accept it, else in Prometheus' text format.
 * Without a host it listens on every interface, of both IP versions where the machine has both.
 * @param beforeScrape brings the registry up to date
 * @returns the server, when it listens
 * @throws when the port is taken
 */
export async function serveMetrics(
  registry: MetricsRegistry,
  { host, port }: { readonly host: string | undefined; readonly port: number },
  beforeScrape: () => void = () => {},
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Metrics are at /metrics.\n');
      return;
    }
    const isOpen = request.headers.accept?.includes('application/openmetrics-text') ?? false;
    const scraped = async () => {
      beforeScrape();
      const text = await registry.metrics();
      return isOpen ? text : plainText(text);
    };
    scraped().then(
      (text) => response.writeHead(200, { 'content-type': isOpen ? registry.contentType : plainType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(host === undefined ? { port } : { host, port }, resolve);
  });
  return server;
}

/**
 * The same in Prometheus' format, where counters have the name of their values and nothing has exemplars. The library could print it,
 * but changes the names of counters for good once it has printed OpenMetrics.
 */
function plainText(openMetrics: string): string {
  const counters = new Set([...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name));
  return openMetrics
    .replaceAll(/^# (HELP|TYPE) (\S+)/gm, (line, word: string, name: string) =>
      counters.has(name) ? `# ${word} ${name}_total` : line,
    )
    .replaceAll(/ # \{[^}]*\} \S+ \S+$/gm, '')
    .replace(/# EOF\n$/, '');
}
