import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '#entities/kit/base/errors.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { graphqlPath } from '../upgrades.ts';
import { checkValueCount } from '../limits/value-limit.ts';

const anyDocument = 'Send a JSON document in UTF-8.';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Refuses compressed bodies before they are read (RFC 9110, section 12.5.3): a small one can become as large as memory.
 * @throws AppError unsupported_media_type
 */
export function refuseCodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const coding = request.headers['content-encoding'];
    // Of these, no body is read.
    const isIgnored = request.method === 'GET' || request.method === 'HEAD';
    if (coding === undefined || isIgnored || coding.trim().toLowerCase() === 'identity') return done(null, payload);
    void reply.header('accept-encoding', 'identity');
    done(
      new AppError(
        'unsupported_media_type',
        `The body has the header Content-Encoding: ${shortened(coding)}; send it as it is, without this header.`,
      ),
    );
  });
}

/** Accepts only JSON bodies. An empty body is treated as none, because clients send the content type even without a body. */
export function bodiesPlugin(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const document = body.length === 0 ? undefined : parseStrictJson(decoded(body as Buffer));
      checkValueCount(document);
      done(null, document);
    } catch (error) {
      done(error instanceof JsonRefusal ? malformed(error.message, error, expectedBy(request)) : (error as Error));
    }
  });
}

function decoded(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch (cause) {
    throw malformed('it is not valid UTF-8', cause);
  }
}

function expectedBy({ routeOptions }: FastifyRequest): string {
  return routeOptions.url === graphqlPath ? 'Send a GraphQL document as {"query":"…"}, in UTF-8.' : anyDocument;
}

function malformed(reason: string, cause: unknown, remedy = anyDocument): AppError {
  return new AppError('malformed_body', `The request body is invalid: ${reason}. ${remedy}`, {
    cause,
  });
}
