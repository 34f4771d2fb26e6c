import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { streamOf } from '../tls/http2-request.ts';

/** Maximum number of requests of one connection that wait for the answer before theirs; more close the connection. */
const maxPipelined = 32;

interface Connection {
  /** Whether a request is being answered. */
  isBusy: boolean;
  /** Whether an answer has said that it was the last one (`Connection: close`): what was sent behind its request is not handled. */
  hasEnded: boolean;
  /** The requests that wait meanwhile. */
  readonly waiting: (() => void)[];
}

/**
 * Handles the requests of one connection one after the other (pipelining: RFC 9112, section 9.3.2). An answer is complete when the
 * client has taken it, so a client that does not read costs one answer, however many requests it sends.
 */
export function serializePipelinedRequests(app: FastifyInstance): void {
  const connections = new WeakMap<Socket, Connection>();
  app.addHook('onRequest', (request, reply, done) => {
    // Of HTTP/2, a connection has its own limit for the answers that are under way.
    if (streamOf(request.raw)) return done();
    const { socket } = request.raw;
    const connection = connections.get(socket) ?? { isBusy: false, hasEnded: false, waiting: [] };
    if (connection.hasEnded) return;
    const begin = () => {
      reply.raw.once('close', () => {
        connection.hasEnded = reply.getHeader('connection') === 'close';
        if (socket.destroyed || connection.hasEnded) connection.waiting.length = 0;
        const next = connection.waiting.shift();
        connection.isBusy = next !== undefined;
        next?.();
      });
      done();
    };
    if (!connection.isBusy) {
      connection.isBusy = true;
      connections.set(socket, connection);
      begin();
    } else if (connection.waiting.length < maxPipelined) {
      connection.waiting.push(begin);
    } else {
      connection.waiting.length = 0;
      socket.destroy();
    }
  });
}
