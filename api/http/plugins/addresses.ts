import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';

/** Refuses requests whose address cannot be read as UTF-8, and those without the Host that HTTP/1.1 asks for. */
export function addressesPlugin(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(problemOf(request.url, request.raw.httpVersion, request.headers.host));
  });
}

function problemOf(url: string, httpVersion: string, host: string | undefined): AppError | undefined {
  if (host === undefined && httpVersion === '1.1')
    return new AppError('malformed_request', 'HTTP/1.1 requests name their Host.');
  if (!url.includes('%')) return undefined;
  if (url.includes('%00')) return new AppError('malformed_request', 'The address contains a NUL character.');
  try {
    decodeURIComponent(url);
    return undefined;
  } catch {
    return new AppError('malformed_request', 'The address is not percent-encoded UTF-8.');
  }
}
