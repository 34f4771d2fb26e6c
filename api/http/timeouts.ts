import type { FastifyInstance } from 'fastify';
import type { Config } from '#config/objects/root.ts';

/** How often Node looks for connections that are out of time, in milliseconds. */
const checkIntervalMs = 250;

/** Whole request, headers and keep-alive: `server.readtimeout`, `readheadertimeout`, `idletimeout`. */
export function timeouts(server: Config['server']) {
  return {
    requestTimeout: server.readtimeout,
    keepAliveTimeout: server.idletimeout,
    http: {
      headersTimeout: headersTimeout(server),
      connectionsCheckingInterval: checkIntervalMs,
      // Node adds a second of its own otherwise.
      keepAliveTimeoutBuffer: 0,
      // Its own refusal is no problem document; ours is (plugins/addresses.ts).
      requireHostHeader: false,
    },
  };
}

/** Timeouts take effect without a restart. */
export function applyTimeouts({ server: http }: FastifyInstance, server: Config['server']): void {
  http.requestTimeout = server.readtimeout;
  http.headersTimeout = headersTimeout(server);
  http.keepAliveTimeout = server.idletimeout;
}

/** The headers are part of the request: Node refuses a longer time for them. */
function headersTimeout({ readheadertimeout, readtimeout }: Config['server']): number {
  return Math.min(readheadertimeout, readtimeout);
}
