import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '#config/objects/root.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { rawHeaders } from '../plugins/answer-headers.ts';
import { problemOf, problemType } from './problem.ts';

/** Writes a problem document to the socket and closes it, for input that is not a complete HTTP request. */
export function sendRawProblem(error: AppError, requestId: string, socket: Socket, config: Config): void {
  const body = JSON.stringify(problemOf(error, requestId));
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
      `content-type: ${problemType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'cache-control: no-store',
      ...rawHeaders(config, 'encrypted' in socket).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  socket.destroySoon();
}
