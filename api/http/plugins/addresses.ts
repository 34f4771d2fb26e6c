import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { endConnection } from '../tls/http2-request.ts';

/**
 * Rejects requests whose URL is not valid UTF-8, requests that name several hosts, those that name none, except with HTTP/1.0, and those whose
 * body has another transfer coding than chunks.
 */
export function addressesPlugin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const coding = transferCodingProblem(request.raw);
    // A proxy between client and server may have read the body differently.
    if (coding) endConnection(request, reply);
    done(coding ?? problemOf(request.url, request.raw));
  });
}

function problemOf(url: string, { rawHeaders, headers, httpVersion }: IncomingMessage): AppError | undefined {
  const hosts = hostHeaders(rawHeaders);
  const authority = headers[':authority'];
  if (hosts === 0 && authority === undefined && httpVersion !== '1.0')
    return new AppError('malformed_request', `HTTP/${httpVersion} requests must have a Host header.`);
  // RFC 9112, section 3.2: two parties on the way could each believe another one.
  if (hosts > 1) return new AppError('malformed_request', `The request has ${hosts} Host headers; send one.`);
  // RFC 9113, section 8.3.1, for the same reason.
  if (hosts > 0 && authority !== undefined && headers.host !== authority)
    return new AppError('malformed_request', 'The request names another host in :authority than in its Host header.');
  if (!url.includes('%')) return undefined;
  if (url.includes('%00')) return new AppError('malformed_request', 'The URL contains a NUL character.');
  try {
    decodeURIComponent(url);
    return undefined;
  } catch {
    return new AppError('malformed_request', 'The URL is not percent-encoded UTF-8.');
  }
}

/** Node reads chunks if they are the last coding, and hands on a body that has another one besides as it is (RFC 9112, section 6.1). */
function transferCodingProblem({ headers }: IncomingMessage): AppError | undefined {
  const { 'transfer-encoding': coding } = headers;
  if (coding === undefined || coding.toLowerCase() === 'chunked') return undefined;
  const message = `The transfer coding "${shortened(coding)}" is not supported; send the body in chunks alone, or with its length.`;
  return new AppError('malformed_request', message);
}

/** Node keeps the first of several Host headers. @param raw names and values in turn */
function hostHeaders(raw: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < raw.length; index += 2) if (raw[index]?.toLowerCase() === 'host') count++;
  return count;
}
