import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError, type ErrorCode } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { sendRawProblem } from '../response/raw-problem.ts';
import type { Services } from '../services.ts';

/** Errors of Node's HTTP parser by code; all others mean that the input is not HTTP. */
const refusals: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are longer than 16 KB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['body_too_large', 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

/** The last request of each connection. */
const lastRequests = new WeakMap<Socket, IncomingMessage>();

/** Answers input that is not a complete request: not HTTP, too large or too slow. */
export function refuseBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  { config, logger }: Pick<Services, 'config' | 'logger'>,
): void {
  const answering = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
  // The body of a request that was answered without it is broken: a second answer would be taken for that of the next request.
  const isAnswered = !answering && lastRequests.get(socket)?.complete === false;
  // A response that has begun cannot be replaced.
  if (!socket.writable || error.code === 'ECONNRESET' || answering?.headersSent || isAnswered) {
    socket.destroy();
    return;
  }
  const requestId = newId();
  const [code, message] = refusals[error.code ?? ''] ?? ['malformed_request', 'The request is not valid HTTP.'];
  logger.info({ request_id: requestId, code, reason: error.code }, 'refused a broken request');
  sendRawProblem(new AppError(code, message, { cause: error }), requestId, socket, config.current);
}

/** Handles requests that Node itself would answer without a problem document. */
export function rejectMalformedRequests(app: FastifyInstance, { config }: Pick<Services, 'config'>): void {
  app.server.on('request', (request: IncomingMessage) => lastRequests.set(request.socket, request));
  // Ignoring an unknown expectation is allowed (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    app.server.emit('request', request, response);
  });
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    const refusal = new AppError('method_not_allowed', 'This server is not a proxy; CONNECT is not supported.');
    sendRawProblem(refusal, newId(), socket, config.current);
  });
}
