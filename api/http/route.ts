import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { AppError, errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { withinDeadline } from './deadline.ts';
import { ProblemSchema } from './problem.ts';
import { queryReader } from './query-values.ts';
import { unitOf } from './plugins/request-unit-of-work.ts';
import type { Access } from './request-context.ts';
import type { Services } from './services.ts';

/** What a handler works with. */
export interface Call<Body> {
  readonly body: Body;
  /** Parameters of the path, and what the query holds, as their schemas say. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The request's unit of work; committed when the handler succeeds. Asking for it costs nothing until it is used. */
  readonly unit: UnitOfWork;
  readonly services: Services;
  readonly request: FastifyRequest;
  /** For cookies and headers only: a handler returns its answer. */
  readonly reply: FastifyReply;
}

export type RouteResponse =
  | { readonly status: number; readonly body: unknown }
  /** JSON text, which goes out as it is. */
  | { readonly status: number; readonly json: string };

/** One REST route with everything its documentation says. Unknown keys of body and query are refused, not stripped. */
export interface RouteDefinition<Body extends TObject> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly access: Access;
  readonly body?: Body;
  readonly params?: TObject;
  /** Texts, whole numbers and flags. Without it there is none; a route that answers everybody alike does not look. */
  readonly query?: TObject;
  /** Answers by status. A text answer names its media type in `produces`. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly produces?: string;
  /** Answered while the process stops, too: whoever watches it asks here. */
  readonly whileStopping?: true;
  /** Refusals a caller has to expect here, besides those of every route. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (call: Call<Static<Body>>) => Promise<RouteResponse> | RouteResponse;
}

export type Route = RouteDefinition<TObject>;

export function defineRoute<Body extends TObject>(definition: RouteDefinition<Body>): Route {
  // The body's static type is only known here; Fastify has validated it before `handle` runs.
  return definition;
}

const noQuery = Type.Object({}, { additionalProperties: false });

export function registerRoute(app: FastifyInstance, services: Services, route: Route): void {
  const query = route.query ?? (route.access === 'anonymous' ? undefined : noQuery);
  app.route({
    method: route.method,
    url: route.url,
    config: { access: route.access, whileStopping: route.whileStopping ?? false },
    schema: {
      summary: route.summary,
      description: route.description,
      tags: [route.tag],
      ...(route.body ? { body: route.body } : {}),
      ...(route.params ? { params: route.params } : {}),
      ...(query ? { querystring: query } : {}),
      ...(route.produces ? { produces: [route.produces] } : {}),
      response: { ...describedAnswers(route), ...errorAnswers(errorsOf(route)) },
    },
    ...(route.query ? { preValidation: readsQuery(route.query) } : {}),
    handler: async (request, reply) => {
      if (!route.body) refuseBody(request.body);
      const call: Call<never> = {
        body: request.body as never,
        params: request.params as Call<never>['params'],
        query: request.query as Call<never>['query'],
        get unit() {
          return unitOf(request, services);
        },
        services,
        request,
        reply,
      };
      const answer = await withinDeadline(request, route.handle(call));
      reply.code(answer.status);
      if (route.produces) reply.type(route.produces);
      if (!('json' in answer)) return answer.body;
      reply.type('application/json; charset=utf-8');
      return answer.json;
    },
  });
}

function readsQuery(schema: TObject): preValidationHookHandler {
  const read = queryReader(schema);
  return (request, _reply, done) => {
    request.query = read(request.query as object);
    done();
  };
}

/** Unknown keys are refused where there are known ones; where there are none, all of them. */
function refuseBody(body: unknown): void {
  const isNothing = body === undefined || (isObject(body) && Object.keys(body).length === 0);
  if (!isNothing) throw new AppError('invalid_input', 'This request has no body; leave it out.');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A status says enough of an answer whose schema does not say more. */
function describedAnswers({ answers }: Route): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [status, { description: STATUS_CODES[status] ?? '', ...schema }]),
  );
}

/** What a route refuses: what it names itself, and what follows from how it is called. */
function errorsOf({ method, body, access, errors }: Route): ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...errors,
      ...(access === 'anonymous' ? [] : (['invalid_input'] as const)),
      ...(method === 'GET' ? [] : (['malformed_body', 'csrf_token_missing', 'csrf_token_invalid'] as const)),
      ...(body ? (['body_too_large', 'unsupported_media_type'] as const) : []),
      ...(access === 'required' ? (['unauthenticated'] as const) : []),
    ]),
  ];
}

function errorAnswers(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  const content = { 'application/problem+json': { schema: ProblemSchema } };
  return {
    ...Object.fromEntries(
      [...byStatus].map(([status, names]) => [
        status,
        { description: names.map((name) => `\`${name}\`: ${errorCatalogue[name].title}`).join(' '), content },
      ]),
    ),
    default: { description: 'Any other problem; see /docs/errors.', content },
  };
}
