import type { FastifyInstance } from 'fastify';
import type { Config } from '#config/objects/root.ts';

/** How often Node checks connections for timeouts, in milliseconds. */
const checkIntervalMs = 250;

/** Whole request, headers and keep-alive: `server.readtimeout`, `readheadertimeout`, `idletimeout`. */
export function timeouts(server: Config['server']) {
  return {
    requestTimeout: server.readtimeout,
    keepAliveTimeout: server.idletimeout,
    http: {
      // Node compares them when the server is made, before Fastify sets its own.
      requestTimeout: server.readtimeout,
      headersTimeout: headersTimeout(server),
      connectionsCheckingInterval: checkIntervalMs,
      // By default Node adds one second.
      keepAliveTimeoutBuffer: 0,
      // Node would not answer with a problem document; plugins/addresses.ts does.
      requireHostHeader: false,
    },
  };
}

/** Applies changed timeouts without a restart. */
export function applyTimeouts({ server: http }: FastifyInstance, server: Config['server']): void {
  http.requestTimeout = server.readtimeout;
  http.headersTimeout = headersTimeout(server);
  http.keepAliveTimeout = server.idletimeout;
}

/** Node does not accept a timeout of the headers that exceeds the one of the request. */
function headersTimeout({ readheadertimeout, readtimeout }: Config['server']): number {
  return Math.min(readheadertimeout, readtimeout);
}
