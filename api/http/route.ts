import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { AppError, statusOf } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { withinDeadline } from './deadline.ts';
import { keptDocument } from './kept-documents.ts';
import { ProblemSchema } from './problem.ts';
import { queryReader } from './query-values.ts';
import { repeatRequest } from './repeat-request.ts';
import { unitOf } from './plugins/request-unit-of-work.ts';
import type { Access } from './request-context.ts';
import type { Services } from './services.ts';
import { streamPayload } from './streams/send-stream.ts';
import type { StreamResponse } from './streams/stream-response.ts';

/** Arguments of a handler. */
export interface Call<Body> {
  readonly body: Body;
  /** Parameters of the path and of the query, validated by their schemas. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The request's unit of work; committed when the handler succeeds. Its transaction begins with the first statement. */
  readonly unit: UnitOfWork;
  readonly services: Services;
  readonly request: FastifyRequest;
  /** Only for cookies and headers: a handler returns its response. */
  readonly reply: FastifyReply;
}

export type RouteResponse =
  | { readonly status: number; readonly body: unknown }
  /** JSON text, sent unchanged. */
  | { readonly status: number; readonly json: string }
  /** A document of the type in `produces`, or JSON, that is kept and is the same for everybody (`keptDocument`). */
  | { readonly status: number; readonly document: Buffer }
  | StreamResponse;

/** One REST route and its documentation. Unknown properties of body and query are rejected, not removed. */
export interface RouteDefinition<Body extends TObject> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly access: Access;
  /** API tokens, personal tokens, and whoever acts as somebody else may call the route; elsewhere only people who are signed in may. */
  readonly acceptsTokens?: true;
  /**
   * Sessions of an organization's single sign-on may call the route, because it does nothing beyond the organization: it reads and changes
   * records on behalf of its caller, or says why not. Elsewhere they are refused; a public route sees nobody.
   */
  readonly acceptsSingleSignOn?: true;
  /** A body of which nothing is required can be left out. */
  readonly body?: Body;
  /**
   * Media types, or `*`, of a body that the handler reads from the request as it arrives. It runs once, and its time begins after the
   * body (`findUploader`); reading has its own limit, `server.readtimeout`.
   */
  readonly receives?: readonly string[];
  /** Describes such a body; default: bytes. */
  readonly receivedBody?: TSchema;
  /** The handler gets the bytes of the body as a `Buffer`, of whatever type, up to this many. */
  readonly rawBodyLimit?: number;
  /** Forms are accepted besides JSON, and what is in them does not count: programs send them along. */
  readonly ignoresForms?: true;
  readonly params?: TObject;
  /** Request headers that the route reads, in lower case. */
  readonly headers?: TObject;
  /** Strings, integers and booleans. Without it, query parameters are rejected, except by anonymous routes, which ignore them. */
  readonly query?: TObject;
  /** Response schemas by status. A text response names its media type in `produces`. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly produces?: string;
  /** Also answered while the process stops, for health checks. */
  readonly whileStopping?: true;
  /** The route concerns the person alone: callers who lack a second factor that their organization requires are answered, too. */
  readonly allowsMissingFactor?: true;
  /** The route verifies a signature of the sender, so it needs no CSRF token. */
  readonly verifiesSignature?: true;
  /** The handler has effects besides its unit of work, so it is not run again after a deadlock. */
  readonly runsOnce?: true;
  /** The route speaks the protocol tus, whose version requests must name: all, or those that name one. */
  readonly tus?: 'required' | 'optional';
  /** Runs before the caller is looked up: for credentials that are part of the URL. */
  readonly prepare?: (request: FastifyRequest, services: Services) => void;
  /** Errors besides those of every route. */
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
  const { receives, rawBodyLimit, ignoresForms } = route;
  if (!receives && rawBodyLimit === undefined && !ignoresForms) return addRoute(app, services, route);
  void app.register((scope, _options, done) => {
    if (receives) acceptStreams(scope, receives);
    if (rawBodyLimit !== undefined) acceptBytes(scope, rawBodyLimit);
    if (ignoresForms) acceptForms(scope);
    addRoute(scope, services, route);
    done();
  });
}

/** Maximum size of a form that is ignored, in bytes. */
const maxIgnoredBytes = 10_000;

function acceptForms(scope: FastifyInstance): void {
  const types = ['application/x-www-form-urlencoded', 'multipart/form-data'];
  scope.addContentTypeParser(types, { parseAs: 'buffer', bodyLimit: maxIgnoredBytes }, (_request, _body, done) =>
    done(null, {}),
  );
}

/** Hands bodies of any type to handlers as bytes. */
function acceptBytes(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
}

/** Hands bodies of these types to handlers unread; all others are refused. */
function acceptStreams(scope: FastifyInstance, types: readonly string[]): void {
  scope.removeAllContentTypeParsers();
  for (const type of types) scope.addContentTypeParser(type, (_request, _body, done) => done(null));
}

function addRoute(app: FastifyInstance, services: Services, route: Route): void {
  const runsOnce = route.runsOnce || route.receives !== undefined;
  const { prepare } = route;
  const query = route.query ?? (route.access === 'anonymous' ? undefined : noQuery);
  app.route({
    method: route.method,
    url: route.url,
    ...(route.rawBodyLimit === undefined ? {} : { bodyLimit: route.rawBodyLimit }),
    config: {
      access: route.access,
      acceptsTokens: route.acceptsTokens ?? false,
      acceptsSingleSignOn: route.acceptsSingleSignOn ?? false,
      whileStopping: route.whileStopping ?? false,
      isRepeatable: !runsOnce,
      ...(route.verifiesSignature ? { csrf: false } : {}),
      ...(route.receives ? { receives: route.receives, swaggerTransform: describesBody(route) } : {}),
      ...(route.tus ? { tus: route.tus } : {}),
      allowsMissingFactor: route.allowsMissingFactor ?? route.access === 'public',
    },
    schema: {
      summary: route.summary,
      description: route.description,
      tags: [route.tag],
      ...(route.body ? { body: route.body } : {}),
      ...(route.params ? { params: route.params } : {}),
      ...(route.headers ? { headers: route.headers } : {}),
      ...(query ? { querystring: query } : {}),
      ...(route.produces ? { produces: [route.produces] } : {}),
      response: { ...describedAnswers(route), ...errorAnswers(errorsOf(route)) },
    },
    ...(prepare
      ? {
          onRequest: (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
            prepare(request, services);
            done();
          },
        }
      : {}),
    preValidation: [
      ...(route.query ? [readsQuery(route.query)] : []),
      ...(route.body && isOptional(route.body) ? [completesBody] : []),
    ],
    handler: async (request, reply) => {
      if (!route.body && route.rawBodyLimit === undefined) refuseBody(request.body);
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
      const attempt = () => {
        const answer = route.handle(call);
        // A handler that waits for nothing has changed nothing.
        if (!(answer instanceof Promise)) return answer;
        const written = withChangesWritten(answer, request);
        return route.receives ? written : withinDeadline(request, written);
      };
      const answer = await (runsOnce ? attempt() : repeatRequest(request, services, attempt));
      reply.code(answer.status);
      if ('length' in answer) return streamPayload(answer, request, reply);
      if (route.produces) reply.type(route.produces);
      if ('body' in answer) return answer.body;
      if (!route.produces) reply.type('application/json; charset=utf-8');
      return 'json' in answer ? answer.json : keptDocument(answer.document, request, reply);
    },
  });
}

/** The answer of a handler, with its changes written: a conflict must show while the handler can still be run again. */
async function withChangesWritten(answering: Promise<RouteResponse>, { core }: FastifyRequest): Promise<RouteResponse> {
  const answer = await answering;
  if (answer.status < 400 && core.unit) await core.unit.flush();
  return answer;
}

function readsQuery(schema: TObject): preValidationHookHandler {
  const read = queryReader(schema);
  return (request, _reply, done) => {
    request.query = read(request.query as object);
    done();
  };
}

/** Adds the body that the handler reads itself to the description of its route: a schema of the route would be checked. */
function describesBody({ receives = [], receivedBody = bytesSchema }: Route) {
  const consumes = receives.map((type) => (type === '*' ? '*/*' : type));
  return ({ schema, url }: { readonly schema: object; readonly url: string }) => ({
    schema: { ...schema, body: receivedBody, consumes },
    url,
  });
}

const bytesSchema = Type.String({ format: 'binary', description: 'The bytes.' });

/** Whether nothing of a body is required: it can be left out. */
function isOptional(body: TObject): boolean {
  const { required }: { readonly required?: readonly string[] } = body;
  return (required ?? []).length === 0;
}

const completesBody: preValidationHookHandler = (request, _reply, done) => {
  if (request.body === undefined) request.body = {};
  done();
};

/** Rejects bodies of routes that declare none. */
function refuseBody(body: unknown): void {
  const isEmpty = body === undefined || (isObject(body) && Object.keys(body).length === 0);
  if (!isEmpty) throw new AppError('invalid_input', 'This request must not have a body.');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Responses without a description are described by the name of their status. */
function describedAnswers({ answers }: Route): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [status, { description: STATUS_CODES[status] ?? '', ...schema }]),
  );
}

/** All errors of a route: those it declares, and those that follow from its method, body and access. */
function errorsOf(route: Route): ErrorCode[] {
  const { method, body, receives, tus, access, acceptsTokens, acceptsSingleSignOn, allowsMissingFactor, errors } =
    route;
  return [
    ...new Set<ErrorCode>([
      ...errors,
      ...(access === 'anonymous' ? [] : (['invalid_input'] as const)),
      ...(method === 'GET' ? [] : (['malformed_body', 'csrf_token_missing', 'csrf_token_invalid'] as const)),
      ...(body || receives ? (['body_too_large', 'limit_exceeded', 'unsupported_media_type'] as const) : []),
      ...(tus ? (['protocol_version_unsupported'] as const) : []),
      ...(access === 'required' ? (['unauthenticated'] as const) : []),
      ...(access === 'required' && !allowsMissingFactor ? (['second_factor_required'] as const) : []),
      ...(access === 'anonymous' || (acceptsTokens && acceptsSingleSignOn) ? [] : (['permission_denied'] as const)),
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
    default: { description: 'Any other error; see /docs/errors.', content },
  };
}
