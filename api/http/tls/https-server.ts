import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Config } from '#config/objects/root.ts';
import type { Services } from '../services.ts';
import { timeouts } from '../timeouts.ts';
import { upgrades } from '../upgrades.ts';
import { Http2Connections } from './http2-connections.ts';
import type { ServerCertificate } from './server-certificate.ts';

/** The oldest version of TLS that is accepted (RFC 8996 forbids older ones). */
const minVersion = 'TLSv1.2';

/**
 * A server for HTTPS: HTTP/2 for clients that offer it (ALPN, RFC 7301), HTTP/1.1 for all others, on one port. HTTP/1.1 is served by
 * the same code as without TLS.
 */
export function httpsServer(
  handler: RequestListener,
  certificate: ServerCertificate,
  { config, logger }: Pick<Services, 'config' | 'logger'>,
): Server {
  const settings = (): Config['server'] => config.current.server;
  const { cert, key } = certificate.current;
  const server = createServer(
    {
      cert,
      key,
      minVersion,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: settings().readheadertimeout,
      ...timeouts(settings()).http,
      ...upgrades,
      keepAliveTimeout: settings().idletimeout,
    },
    handler,
  );
  certificate.onChange((next) => server.setSecureContext({ cert: next.cert, key: next.key, minVersion }));
  const http2 = new Http2Connections(handler, { config, logger });
  serveByProtocol(server, http2);
  // By default Node answers what is no TLS as if it were broken HTTP.
  server.removeAllListeners('tlsClientError');
  server.on('tlsClientError', (error, socket) => {
    logger.debug({ reason: (error as NodeJS.ErrnoException).code }, 'refused a connection that is not TLS');
    socket.destroy();
  });
  return closesBoth(server, http2);
}

/** Hands connections on to the protocol on which client and server have agreed. */
function serveByProtocol(server: Server, http2: Http2Connections): void {
  const serveHttp1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.serve(socket);
    else for (const serve of serveHttp1) serve.call(server, socket);
  });
}

/** Connections with HTTP/2 end with the others. */
function closesBoth(server: Server, http2: Http2Connections): Server {
  const closeAllOfHttp1 = server.closeAllConnections.bind(server);
  const closeIdleOfHttp1 = server.closeIdleConnections.bind(server);
  server.closeAllConnections = () => {
    closeAllOfHttp1();
    http2.destroyAll();
  };
  server.closeIdleConnections = () => {
    closeIdleOfHttp1();
    http2.closeAll();
  };
  return server;
}
