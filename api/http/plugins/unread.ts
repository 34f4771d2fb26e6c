import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { FastifyInstance } from 'fastify';
import { streamOf } from '../tls/http2-request.ts';

/** Maximum size in bytes of all answers together that have not been taken by their clients. */
const maxPendingBytes = 128 * 1_048_576;

/**
 * Limits the memory of answers that clients do not read: above the limit, the connections whose answers have waited
 * longest are closed. Must be registered after everything that changes the answer.
 */
export function capPendingResponses(app: FastifyInstance): void {
  /** Sizes of the answers, the oldest first. */
  const sizes = new Map<ServerResponse, number>();
  let total = 0;
  const remove = (response: ServerResponse) => {
    total -= sizes.get(response) ?? 0;
    sizes.delete(response);
  };
  app.addHook('onSend', (_request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0;
    // A failed commit replaces the answer.
    remove(reply.raw);
    sizes.set(reply.raw, size);
    total += size;
    reply.raw.once('close', () => remove(reply.raw));
    for (const [response] of sizes) {
      if (total <= maxPendingBytes || response === reply.raw) break;
      remove(response);
      response.destroy();
    }
    done(null, payload);
  });
}

/** Maximum number of bytes of a body that is read although its request has been answered, so that the connection can be kept. */
const maxDiscardedBytes = 65_536;

/** Closes the connection, or the stream of HTTP/2, with the answer to a request whose body would have to be read on only to be thrown away. */
export function closeConnectionOnUnreadBody(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    const stream = streamOf(raw);
    if (stream) {
      // Fastify sets it for bodies that are too large.
      void reply.removeHeader('connection');
      reply.raw.once('finish', () => raw.complete || stream.close(constants.NGHTTP2_NO_ERROR));
    } else if (!raw.complete && bodyLength(raw) > maxDiscardedBytes) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Unknown lengths are treated as infinite. */
function bodyLength({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}
