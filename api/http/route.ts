import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import type { ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { withinDeadline } from './limits/deadline.ts';
import { deprecationHeaders, type Deprecation } from './deprecation.ts';
import type { AnswerHeader } from './description/documented-headers.ts';
import { securityOf } from './description/security.ts';
import { keptDocument } from './response/kept-documents.ts';
import { queryReader } from './query-values.ts';
import { earlierAnswer, idempotencyHeader, refusedKey, replayHeaders } from './idempotent-requests.ts';
import { limitClassOf, type LimitClass } from './limits/rate-limits.ts';
import { repeatRequest } from './repeat-request.ts';
import {
  acceptBytes,
  acceptForms,
  acceptStreams,
  completesBody,
  describesBody,
  isOptional,
  refuseBody,
} from './route-bodies.ts';
import {
  answerHeadersOf,
  describedAnswers,
  describedHeaders,
  errorAnswers,
  type ErrorDocument,
  errorsOf,
  keepsAnswers,
  refusesKeys,
} from './route-description.ts';
import { unitOf } from './plugins/request-unit-of-work.ts';
import type { Access, ErrorAnswer } from './request-context.ts';
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
  /** Name of the operation in the description of the API. Generated clients name their functions after it, so it never changes. */
  readonly operationId: string;
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
  /** Forms are accepted besides JSON, and their content is ignored: programs send them along. */
  readonly ignoresForms?: true;
  readonly params?: TObject;
  /** Request headers that the route reads, in lower case. */
  readonly headers?: TObject;
  /** Strings, integers and booleans. Without it, query parameters are rejected, except by anonymous routes, which ignore them. */
  readonly query?: TObject;
  /** Response schemas by status. A text response names its media type in `produces`. */
  readonly answers: Readonly<Record<number, TSchema>>;
  readonly produces?: string;
  /** Headers of successful answers that the handler sets, for the description. */
  readonly sends?: readonly AnswerHeader[];
  /** The operation is going to be removed: answers have headers that say so. */
  readonly deprecated?: Deprecation;
  /** The answer has a credential, so it is never kept, and the header `Idempotency-Key` is refused. */
  readonly answersCredential?: true;
  /** By what the rate limiter counts the route alone; left out, `limitClassOf` says it. */
  readonly limitClass?: LimitClass;
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
  /** Another form of an error response than a problem document; undefined for a request that gets one. */
  readonly errorAnswer?: (error: AppError, request: FastifyRequest, services: Services) => ErrorAnswer | undefined;
  /** Type and schema of its error responses, if they are no problem documents. */
  readonly errorDocument?: ErrorDocument;
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

function addRoute(app: FastifyInstance, services: Services, route: Route): void {
  const runsOnce = route.runsOnce || route.receives !== undefined;
  const { prepare, errorAnswer } = route;
  const isKeyable = keepsAnswers(route);
  /** Runs the handler, unless a request with the same key has been answered before. */
  const once = async (call: Call<never>): Promise<RouteResponse> => {
    const { request, reply, unit } = call;
    const input = { operation: `${route.method} ${route.url}`, input: request.body };
    const kept = await earlierAnswer(request, services, unit, input);
    if (!kept) return route.handle(call);
    replayHeaders(reply, kept);
    const { status, text } = kept;
    return text === '' ? { status, body: undefined } : { status, json: text };
  };
  const query = route.query ?? (route.access === 'anonymous' ? undefined : noQuery);
  app.route({
    method: route.method,
    url: route.url,
    ...(route.rawBodyLimit === undefined ? {} : { bodyLimit: route.rawBodyLimit }),
    config: {
      access: route.access,
      recorded: { method: route.method, route: route.url, status: soleSuccess(route) },
      acceptsTokens: route.acceptsTokens ?? false,
      acceptsSingleSignOn: route.acceptsSingleSignOn ?? false,
      whileStopping: route.whileStopping ?? false,
      isRepeatable: !runsOnce,
      limitClass: limitClassOf(route),
      ...(route.verifiesSignature ? { csrf: false } : {}),
      ...(route.receives ? { receives: route.receives, swaggerTransform: describesBody(route) } : {}),
      ...(route.tus ? { tus: route.tus } : {}),
      ...(errorAnswer
        ? { errorAnswer: (error: AppError, request: FastifyRequest) => errorAnswer(error, request, services) }
        : {}),
      ...(route.deprecated ? { deprecation: deprecationHeaders(route.deprecated, route.operationId) } : {}),
      allowsMissingFactor: route.allowsMissingFactor ?? route.access === 'public',
    },
    schema: {
      operationId: route.operationId,
      security: securityOf(route),
      ...(route.deprecated ? { deprecated: true, 'x-sunset': route.deprecated.sunset ?? null } : {}),
      'x-answer-headers': answerHeadersOf(route),
      ...(route.body && isOptional(route.body) ? { 'x-body-optional': true } : {}),
      summary: route.summary,
      description: describedWithEnd(route),
      tags: [route.tag],
      ...(route.body ? { body: route.body } : {}),
      ...(route.params ? { params: route.params } : {}),
      ...(route.headers || isKeyable ? { headers: describedHeaders(route.headers, isKeyable) } : {}),
      ...(query ? { querystring: query } : {}),
      ...(route.produces ? { produces: [route.produces] } : {}),
      response: { ...errorAnswers(errorsOf(route), route.errorDocument), ...describedAnswers(route) },
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
      ...(refusesKeys(route) ? [refuseKey] : []),
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
        const answer = isKeyable && request.headers[idempotencyHeader] !== undefined ? once(call) : route.handle(call);
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

/** The status with which a request succeeds; null if there are several. */
function soleSuccess({ answers }: Route): number | null {
  const [status, ...others] = Object.keys(answers).filter((each) => Number(each) < 400);
  return status === undefined || others.length > 0 ? null : Number(status);
}

/** The description, which says of a deprecated operation until when it is there. */
function describedWithEnd({ description, deprecated }: Route): string {
  if (deprecated?.sunset === undefined) return description;
  return `${description}\n\n**Deprecated.** It may be missing from ${deprecated.sunset} on.`;
}

/** The answer of a handler, with its changes written: a conflict must show while the handler can still be run again. */
async function withChangesWritten(answering: Promise<RouteResponse>, { core }: FastifyRequest): Promise<RouteResponse> {
  const answer = await answering;
  if (answer.status < 400 && core.unit) await core.unit.flush();
  return answer;
}

const refuseKey: preValidationHookHandler = ({ headers }, _reply, done) => {
  if (headers[idempotencyHeader] === undefined) return done();
  done(refusedKey('this route takes or answers with a credential, receives files, or acts outside of the database'));
};

function readsQuery(schema: TObject): preValidationHookHandler {
  const read = queryReader(schema);
  return (request, _reply, done) => {
    request.query = read(request.query as object);
    done();
  };
}
