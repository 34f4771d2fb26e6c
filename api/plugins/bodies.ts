import type { FastifyInstance } from 'fastify';
import { AppError } from '#entities/kit/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * JSON bodies only. Invalid UTF-8, NUL characters, lone surrogates and prototype keys are refused at the edge: none of
 * them can be stored, and SQL text carries no NUL.
 */
export function bodiesPlugin(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let text: string;
    try {
      text = utf8.decode(body as Buffer);
    } catch {
      done(malformed('it is not valid UTF-8'));
      return;
    }
    if (text.includes('\\u0000') || text.includes('\0')) {
      done(malformed('it contains a NUL character'));
      return;
    }
    // Calls back synchronously; its errors are translated by their code.
    void parseJson(request, text, (error, value: unknown) => {
      if (error) done(malformed(error.message));
      else if (/\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value))
        done(malformed('it contains half a surrogate pair'));
      else done(null, value);
    });
  });
}

function malformed(reason: string): AppError {
  return new AppError('malformed_body', `The request body cannot be used: ${reason}. Send a JSON document in UTF-8.`);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (value && typeof value === 'object')
    return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
  return true;
}
