import type { FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { AppError, ErrorCode } from '#entities/kit/base/errors.ts';
import { logFailure } from '../http/plugins/error-answers.ts';
import { asAppError } from '../http/response/problem.ts';

/** Error codes of requests that Yoga rejects, by HTTP status; its other errors are mistakes in the document. */
const codeByStatus: Readonly<Record<number, ErrorCode>> = { 405: 'method_not_allowed', 413: 'body_too_large' };

interface HttpExtension {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly spec?: boolean;
}

/** Wraps errors that were thrown outside of a field. */
export function asGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError) return thrown;
  return new GraphQLError('the operation failed', {
    originalError: thrown instanceof Error ? thrown : new Error('not an error', { cause: thrown }),
  });
}

/** An error before the execution: status 400 for the media type of GraphQL over HTTP (section 6.4). */
export function asRequestError(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, originalError } = error;
  return new GraphQLError(error.message, {
    nodes,
    source,
    positions,
    ...(originalError ? { originalError } : {}),
    extensions: { http: { spec: true, status: 400 } satisfies HttpExtension },
  });
}

/** Maximum length of a message in characters: messages can repeat long values of the input. */
const maxMessageLength = 500;

function shortened(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength).toWellFormed()}…` : message;
}

/** Formats an error for the caller, with its code in `extensions.code`. Unexpected errors are masked and logged. */
export function presentError(error: GraphQLError, request: FastifyRequest): GraphQLError {
  const position = { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path };
  const thrown = rootOf(error);
  if (thrown instanceof GraphQLError) {
    const http: HttpExtension | undefined = thrown.extensions['http'];
    const code = codeByStatus[http?.status ?? 400] ?? 'invalid_input';
    return new GraphQLError(shortened(thrown.message), {
      ...position,
      extensions: { code, request_id: request.id, ...(http ? { http } : {}) },
    });
  }
  const known = asAppError(thrown);
  // Of errors before the execution.
  const http: HttpExtension | undefined = error.extensions['http'];
  logFailure(known, request);
  return new GraphQLError(shortened(known.message), {
    ...position,
    extensions: {
      ...extensionsOf(known, request),
      ...(http ? { http } : {}),
      ...(known.category === 'unavailable' ? { http: unavailable(known.details.retryAfterSeconds) } : {}),
    },
  });
}

/** Codes that clients know by the spelling of a protocol. */
const codesOfProtocols: { readonly [Code in ErrorCode]?: string } = {
  persisted_query_not_found: 'PERSISTED_QUERY_NOT_FOUND',
};

function extensionsOf({ code, details }: AppError, request: FastifyRequest): object {
  return {
    code: codesOfProtocols[code] ?? code,
    request_id: request.id,
    ...(details.fields ? { errors: details.fields } : {}),
  };
}

/** The media type of GraphQL over HTTP (section 6), which clients must accept for statuses other than 200. */
const responseType = 'application/graphql-response+json';

/**
 * The response for a request that is refused before GraphQL reads it: the same status as over REST, with the error where clients of
 * GraphQL look for it.
 */
export function refusalAnswer(error: AppError, request: FastifyRequest): { type: string; body: object } {
  const accepted = request.headers.accept?.includes(responseType) ? responseType : 'application/json';
  return {
    type: `${accepted}; charset=utf-8`,
    body: { errors: [{ message: shortened(error.message), extensions: extensionsOf(error, request) }] },
  };
}

/** Load balancers and retrying clients look at the status, not at the body. */
function unavailable(retryAfterSeconds: number | undefined): HttpExtension {
  return {
    status: 503,
    ...(retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }),
  };
}

/** The error that a resolver threw; the executor wraps it. */
export function rootOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootOf(error.originalError) : error;
}
