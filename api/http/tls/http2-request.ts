import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The stream of a request with HTTP/2; undefined for HTTP/1.1. Fastify gives both the type of HTTP/1.1. */
export function streamOf(raw: IncomingMessage): ServerHttp2Stream | undefined {
  return raw.httpVersionMajor === 2 ? (raw as unknown as Http2ServerRequest).stream : undefined;
}

/** Ends the connection after this answer; with HTTP/2, after those that are under way. */
export function endConnection(request: Pick<FastifyRequest, 'raw'>, reply: FastifyReply): void {
  const stream = streamOf(request.raw);
  if (stream) stream.once('finish', () => stream.session?.close());
  else reply.header('connection', 'close');
}

/** The headers without those that stand for the request line of HTTP/1.1 (RFC 9113, section 8.3.1). */
export function withoutPseudoHeaders(headers: FastifyRequest['headers']): FastifyRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
}
