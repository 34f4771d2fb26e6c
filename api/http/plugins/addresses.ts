import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';

/** Rejects requests whose URL is not valid UTF-8, and HTTP/1.1 requests without a Host header. */
export function addressesPlugin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(problemOf(request.url, request.raw.httpVersion, request.headers.host));
  });
}

function problemOf(url: string, httpVersion: string, host: string | undefined): AppError | undefined {
  if (host === undefined && httpVersion === '1.1')
    return new AppError('malformed_request', 'HTTP/1.1 requests must have a Host header.');
  if (!url.includes('%')) return undefined;
  if (url.includes('%00')) return new AppError('malformed_request', 'The URL contains a NUL character.');
  try {
    decodeURIComponent(url);
    return undefined;
  } catch {
    return new AppError('malformed_request', 'The URL is not percent-encoded UTF-8.');
  }
}
