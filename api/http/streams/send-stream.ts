import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { StreamResponse } from './stream-response.ts';

/**
 * Prepares the answer to a request for bytes. The stream that it returns is sent as the payload; undefined for an answer without a body.
 */
export function streamPayload(
  { status, headers, length, content }: StreamResponse,
  request: FastifyRequest,
  reply: FastifyReply,
): Readable | Buffer | undefined {
  request.core.isDownload = true;
  reply.headers(headers);
  if (status !== 304) reply.header('content-length', length);
  // Fastify would answer HEAD with the length of what it gets.
  if (!content) return status === 304 ? undefined : Readable.from([]);
  if (Buffer.isBuffer(content)) return content;
  // It may break before Fastify listens.
  content.on('error', () => {});
  // Also when the response is not sent after all, and when its client has left already.
  if (reply.raw.destroyed) content.destroy();
  else reply.raw.once('close', () => content.destroy());
  abortUnlessExact(content, length, reply.raw, (reason) => request.log.error(reason));
  return content;
}

/**
 * Aborts a response whose source ends before the length that its headers promise, or goes beyond it: the client sees that the transfer
 * failed, and not a file that looks whole.
 */
function abortUnlessExact(
  source: Readable,
  length: number,
  raw: ServerResponse,
  report: (reason: string) => void,
): void {
  let sent = 0;
  const abort = () => {
    report(
      `the source of a response of ${length} bytes has ${sent < length ? 'only ' : ''}${sent}; the response is aborted`,
    );
    raw.destroy();
    source.destroy();
  };
  // It flows when it is piped: its listeners are called in the order in which they were added, so these before those of the pipe.
  source.pause();
  source.on('data', (chunk: Buffer) => {
    sent += chunk.length;
    if (sent > length) abort();
  });
  source.once('end', () => {
    if (sent < length) abort();
  });
}
