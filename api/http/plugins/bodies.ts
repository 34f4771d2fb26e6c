import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { parseStrictJson } from '../strict-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** JSON bodies only. An empty one counts as none: clients announce JSON on requests that carry nothing. */
export function bodiesPlugin(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseStrictJson(decoded(body as Buffer)));
    } catch (error) {
      done(error as Error);
    }
  });
}

function decoded(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw new AppError('malformed_body', 'The request body cannot be used: it is not valid UTF-8.', { cause });
  }
}
