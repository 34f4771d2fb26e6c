import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { SecureContext, TLSSocket, TlsOptions } from 'node:tls';
import type { Config } from '#config/objects/root.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { Services } from '../services.ts';
import { timeouts } from '../limits/timeouts.ts';
import { upgrades } from '../upgrades.ts';
import { Http2Connections } from './http2-connections.ts';
import type { Certificate } from './certificate-files.ts';
import type { CertificateSource } from './certificate-source.ts';

/** The oldest version of TLS that is accepted (RFC 8996 forbids older ones). */
const minVersion = 'TLSv1.2';

/** Protocols that clients may choose (ALPN, RFC 7301), the first one that both know. */
const protocols = ['h2', 'http/1.1'] as const;

/** Protocol of an authority that wants a proof (RFC 8737). It gets the proof, and no data are exchanged. */
const proofProtocol = 'acme-tls/1';

/** Maximum time to find a proof, in milliseconds. */
const proofMs = 5_000;

/**
 * A server for HTTPS: HTTP/2 for clients that offer it, HTTP/1.1 for all others, on one port. HTTP/1.1 is served by
 * the same code as without TLS.
 */
export function httpsServer(
  handler: RequestListener,
  certificate: CertificateSource,
  { config, logger }: Pick<Services, 'config' | 'logger'>,
): Server {
  const settings = (): Config['server'] => config.current.server;
  const server = createServer(
    {
      ...(certificate.current ? contextOf(certificate.current) : { minVersion }),
      ...protocolsOf(certificate, logger),
      handshakeTimeout: settings().readheadertimeout,
      ...timeouts(settings()).http,
      ...upgrades,
      keepAliveTimeout: settings().idletimeout,
    },
    handler,
  );
  certificate.onChange((next) => server.setSecureContext(contextOf(next)));
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

/** Without a certificate, every handshake fails, except that of an authority that wants a proof. */
function contextOf({ cert, key }: Certificate) {
  return { cert, key, minVersion } as const;
}

/** The protocols that clients can choose. */
function protocolsOf({ proofFor }: CertificateSource, logger: Services['logger']): TlsOptions {
  if (!proofFor) return { ALPNProtocols: [...protocols] };
  const forAuthority = new WeakSet<object>();
  return {
    ALPNCallback(this: object, { protocols: offered }) {
      if (!offered.includes(proofProtocol)) return protocols.find((protocol) => offered.includes(protocol));
      forAuthority.add(this);
      return proofProtocol;
    },
    // With TLS 1.3, which all authorities speak, the protocol is chosen before the certificate.
    SNICallback(this: object, serverName, done) {
      if (forAuthority.has(this)) void giveProof(proofFor(serverName), done, logger);
      else done(null);
    },
  };
}

async function giveProof(
  sought: Promise<SecureContext | undefined>,
  done: (error: Error | null, context?: SecureContext) => void,
  logger: Services['logger'],
): Promise<void> {
  const context = await withTimeout(sought, proofMs, () => undefined).catch((error: unknown) => {
    logger.warn({ err: error }, 'the proof for the certificate authority could not be shown');
    return undefined;
  });
  if (context) done(null, context);
  else done(new Error('no proof for this name is expected'));
}

/** Hands connections on to the protocol on which client and server have agreed. */
function serveByProtocol(server: Server, http2: Http2Connections): void {
  const serveHttp1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') http2.serve(socket);
    else if (socket.alpnProtocol === proofProtocol) socket.destroy();
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
