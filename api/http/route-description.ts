import { STATUS_CODES } from 'node:http';
import { Type, type TObject, type TSchema } from 'typebox';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import type { AnswerHeader } from './description/documented-headers.ts';
import { idempotencyHeader, keySchema } from './idempotent-requests.ts';
import { ProblemSchema } from './response/problem.ts';
import { limitClassOf, type Limitable } from './limits/rate-limits.ts';
import type { Access } from './request-context.ts';
import type { Deprecation } from './deprecation.ts';

/** Description of a route (route.ts). */
interface Described extends Limitable {
  readonly access: Access;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  readonly receives?: readonly string[];
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly answersCredential?: true;
  readonly acceptsTokens?: true;
  readonly acceptsSingleSignOn?: true;
  readonly allowsMissingFactor?: true;
  readonly runsOnce?: true;
  readonly tus?: 'required' | 'optional';
  readonly sends?: readonly AnswerHeader[];
  readonly deprecated?: Deprecation;
  readonly errors: readonly ErrorCode[];
}

/** The headers of a route, with the one that all of its sort have. */
export function describedHeaders(headers: TObject | undefined, isKeyable: boolean): TObject {
  return Type.Object({
    ...headers?.properties,
    ...(isKeyable
      ? { [idempotencyHeader]: Type.Optional(Type.String({ ...keySchema, description: keyDescription })) }
      : {}),
  });
}

const keyDescription =
  'A value that the client makes up for one request, such as a random UUID. Sent again with the same key within a day, the request has no further effect and gets the same answer.';

/** Responses without a description are described by the name of their status. */
export function describedAnswers({ answers }: Described): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [status, { description: STATUS_CODES[status] ?? '', ...schema }]),
  );
}

/** All errors of a route: those it declares, and those that follow from its method, input and access. */
export function errorsOf(route: Described): ErrorCode[] {
  const { method, tus, access, acceptsTokens, acceptsSingleSignOn, allowsMissingFactor, errors } = route;
  const codes = new Set<ErrorCode>([
    ...errors,
    ...everywhere,
    ...(limitClassOf(route) === 'exempt' ? [] : (['rate_limit_exceeded'] as const)),
    ...(access === 'anonymous' ? [] : databaseErrors),
    ...(access === 'required' ? (['module_not_enabled', 'authorization_unavailable'] as const) : []),
    ...(access === 'required' && method !== 'GET' ? (['organization_archived', 'concurrent_changes'] as const) : []),
    ...(access === 'required' && method === 'DELETE' ? (['still_referenced'] as const) : []),
    ...(access === 'anonymous' && method === 'GET' && !route.query && !route.params
      ? []
      : (['invalid_input'] as const)),
    ...(method === 'GET'
      ? []
      : ([
          'malformed_body',
          'body_too_large',
          'limit_exceeded',
          'unsupported_media_type',
          'csrf_token_missing',
          'csrf_token_invalid',
        ] as const)),
    ...(tus ? (['protocol_version_unsupported'] as const) : []),
    ...(acceptsTokens ? (['subscription_inactive'] as const) : []),
    // A token that is none is refused even where nobody has to be signed in.
    ...(access === 'anonymous' ? [] : (['unauthenticated'] as const)),
    ...(keepsAnswers(route)
      ? (['idempotency_key_in_use', 'idempotency_key_reused', 'idempotency_answer_withheld'] as const)
      : []),
    ...(access === 'required' && !allowsMissingFactor ? (['second_factor_required'] as const) : []),
    ...(access === 'anonymous' || (acceptsTokens && acceptsSingleSignOn) ? [] : (['permission_denied'] as const)),
  ]);
  // In one order, so that equal answers of several routes are the same in the description.
  return allCodes.filter((code) => codes.has(code));
}

/** Any request can end with these. */
const everywhere: readonly ErrorCode[] = ['malformed_request', 'headers_too_large', 'internal', 'shutting_down'];

/** Errors with which requests that ask the database can end. */
const databaseErrors: readonly ErrorCode[] = ['deadline_exceeded', 'database_unavailable', 'database_busy'];

const allCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** Headers of the successful answers of a route. */
export function answerHeadersOf(route: Described): readonly AnswerHeader[] {
  const { sends = [], deprecated } = route;
  return [
    'X-Request-Id',
    ...(limitClassOf(route) === 'exempt' ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    ...sends,
    ...(keepsAnswers(route) ? (['Idempotency-Replayed'] as const) : []),
    ...(deprecated ? (['Deprecation', 'Link'] as const) : []),
    ...(deprecated?.sunset === undefined ? [] : (['Sunset'] as const)),
  ];
}

/** Form of error responses. */
export interface ErrorDocument {
  /** Media type. */
  readonly type: string;
  readonly schema: TSchema;
}

const problemDocument: ErrorDocument = { type: 'application/problem+json', schema: ProblemSchema };

export function errorAnswers(codes: readonly ErrorCode[], { type, schema } = problemDocument): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: names.map((name) => `\`${name}\`: ${errorCatalogue[name].title}`).join(' '),
        content: { [type]: { schema, 'x-codes': names } },
      },
    ]),
  );
}

/** Whether requests can name a key under which their answer is kept: what somebody who is signed in creates or does. */
export function keepsAnswers(route: Described): boolean {
  const { method, access, receives, answersCredential, runsOnce } = route;
  // An effect outside of the transaction could be there without the answer.
  const isPlain = limitClassOf(route) === 'general' && !receives && !answersCredential && !runsOnce;
  return method === 'POST' && access === 'required' && isPlain;
}

/** Whether a request with a key is refused. Senders of signed messages put headers of their own into them. */
export function refusesKeys(route: Described): boolean {
  return route.method === 'POST' && !keepsAnswers(route) && !route.verifiesSignature;
}
