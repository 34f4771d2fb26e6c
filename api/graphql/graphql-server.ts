import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  FieldsOnCorrectTypeRule,
  GraphQLError,
  KnownArgumentNamesRule,
  specifiedRules,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type GraphQLSchema,
  type ValidationRule,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import type { Services } from '../http/services.ts';
import { withoutPseudoHeaders } from '../http/tls/http2-request.ts';
import { graphiqlHeaders, graphiqlPage, serveGraphiqlFiles } from './graphiql.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { argumentsRule } from './documents/arguments-rule.ts';
import { fieldsRule } from './documents/fields-rule.ts';
import { documentCaches, limitDocuments } from './documents/document-limits.ts';
import { asGraphqlError, presentError, refusalAnswer } from './graphql-errors.ts';
import { valuesRule } from './input-problems.ts';
import { onlyJson } from './only-json.ts';
import { checkOperationName } from './operations/check-operation-name.ts';
import { unitOfWorkPerOperation } from './operations/execute-operation.ts';
import { introspectionRules } from './operations/introspection.ts';
import { operationMetrics } from './operations/operation-metrics.ts';
import { OperationQueue } from './operations/operation-queue.ts';
import { GraphqlSubscriptions, refuseOverJson } from './subscriptions/graphql-subscriptions.ts';
import { persistedOperations, persistedQueryOf } from './operations/persisted-operations.ts';
import { formType, isForm, readsForms, releaseForm } from './uploads.ts';

/** Title of the GraphiQL page. */
const title = 'Core server: GraphiQL';

const anyObject = Type.Unsafe({ type: ['object', 'null'] });
const anyText = Type.Unsafe({ type: ['string', 'null'] });

/** The members of a request (GraphQL over HTTP, section 5.1). The document determines what variables may contain. */
const bodySchema = Type.Object(
  {
    // May be missing where its hash is sent (persisted-operations.ts).
    query: Type.Optional(Type.String({ minLength: 1 })),
    variables: Type.Optional(anyObject),
    operationName: Type.Optional(anyText),
    extensions: Type.Optional(anyObject),
  },
  { additionalProperties: false },
);

const parameter = Type.Optional(Type.String());
const querySchema = Type.Object({
  query: parameter,
  variables: parameter,
  operationName: parameter,
  extensions: parameter,
});

/** Serves GraphQL over HTTP at `/graphql`, with the same authentication, CSRF check and units of work as REST. */
export function graphqlServer(app: FastifyInstance, services: Services, schema: GraphQLSchema): void {
  const { config } = services;
  const { dev } = config.current.server;
  const queue = new OperationQueue(() => config.current.server.graphpool.maxworkers);
  services.metrics.watchOperations(queue);
  const stopWatching = config.subscribe('server.graphpool', () => queue.wake());
  app.addHook('onClose', (_app, done) => {
    stopWatching();
    done();
  });
  const yoga: YogaServerInstance<GraphqlContext, object> = createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: dev ? (_request, context) => ({ title, headers: csrfHeaders(services, requestOf(context)) }) : false,
    renderGraphiQL: graphiqlPage,
    cors: false,
    logging: false,
    multipart: false,
    // `presentErrors` masks them.
    maskedErrors: false,
    parserAndValidationCache: documentCaches(),
    plugins: [
      onlyJson(),
      persistedOperations(),
      limitDocuments(),
      explainInput(dev),
      unitOfWorkPerOperation(queue),
      presentErrors(),
      operationMetrics(services.metrics),
      refuseOverJson(),
    ],
  });
  const subscriptions = new GraphqlSubscriptions(app, services, yoga);

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (await subscriptions.answer(request, reply)) return reply;
    const response = await yoga.handleNodeRequest(nodeRequest(request), {
      services,
      fastify: { request, reply },
    });
    if (request.core.refusal) throw request.core.refusal;
    const type = response.headers.get('content-type') ?? '';
    // Yoga rejects some requests with an empty response.
    if (response.status >= 400 && !type.includes('json')) throw refusalOf(response.status);
    for (const [name, value] of response.headers) void reply.header(name, value);
    if (type.includes('html')) void reply.headers(graphiqlHeaders);
    void reply.code(response.status);
    // Buffered: the unit of work has ended, so nothing is left to stream from.
    return reply.send(Buffer.from(await response.arrayBuffer()));
  };
  if (dev) serveGraphiqlFiles(app);
  const routeConfig = {
    isRepeatable: true,
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    errorAnswer: refusalAnswer,
    limitClass: 'graphql',
  } as const;
  app.route({
    method: 'GET',
    url: '/graphql',
    config: routeConfig,
    schema: { hide: true, querystring: querySchema },
    preHandler: (request, _reply, done) => {
      if (subscriptions.isUpgrade(request)) return done();
      const { query, variables, extensions } = request.query as Readonly<Record<string, string | undefined>>;
      const problem = jsonProblem('variables', variables) ?? jsonProblem('extensions', extensions);
      if (problem) return done(problem);
      // Browsers get GraphiQL.
      const isMissing = !query && !request.headers.accept?.includes('text/html');
      done(isMissing && !namesDocument(extensions ? JSON.parse(extensions) : undefined) ? noQuery() : undefined);
    },
    handler,
  });
  void app.register((scope, _options, done) => {
    // `readsForms` reads them.
    scope.addContentTypeParser(formType, (_request, _body, accept) => accept(null));
    scope.route({
      method: 'POST',
      url: '/graphql',
      config: {
        ...routeConfig,
        recorded: { method: 'POST', route: '/graphql', status: 200 },
        receives: ['application/json', formType],
      },
      schema: { hide: true, body: bodySchema },
      preValidation: readsForms(services, schema),
      preHandler: (request, _reply, done) => {
        const { query, extensions } = request.body as { readonly query?: string; readonly extensions?: unknown };
        done(query === undefined && !namesDocument(extensions) ? noQuery() : undefined);
      },
      handler,
      onResponse: (request) => releaseForm(request, services),
    });
    done();
  });
}

/** The request as Yoga sees it, without the client's Host header, from which Yoga would build URLs. */
function nodeRequest(request: FastifyRequest) {
  const query = request.url.indexOf('?');
  return {
    // HEAD is handled as GET; Node omits the body.
    method: request.method === 'HEAD' ? 'GET' : request.method,
    url: `/graphql${query < 0 ? '' : request.url.slice(query)}`,
    // A request that came as a form is one JSON document here.
    headers: {
      ...withoutPseudoHeaders(request.headers),
      ...(isForm(request) ? { 'content-type': 'application/json' } : {}),
      host: 'localhost',
    },
    body: request.body,
    // Yoga reads the body from here when `body` is undefined.
    [Symbol.asyncIterator]: () => request.raw[Symbol.asyncIterator](),
  };
}

/** Whether a request without a document names one by its hash. */
function namesDocument(extensions: unknown): boolean {
  return persistedQueryOf(extensions) !== undefined;
}

function noQuery(): AppError {
  const message = 'is required: an operation such as { self { id } }, here or in a JSON body with POST';
  return inputError([{ path: '/query', message }]);
}

function jsonProblem(name: string, text: string | undefined): AppError | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const value = parseStrictJson(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
  } catch (cause) {
    const reason = cause instanceof JsonRefusal ? `: ${cause.message}` : '';
    return new AppError('invalid_input', `The query parameter "${name}" is not valid JSON${reason}.`, { cause });
  }
  return new AppError('invalid_input', `The query parameter "${name}" must be a JSON object.`);
}

function refusalOf(status: number): AppError {
  if (status === 406)
    return new AppError('not_acceptable', 'Accept application/json or application/graphql-response+json.');
  return new AppError(
    'invalid_input',
    'This is not a GraphQL request: send {"query": "…"} with POST and the header Content-Type: application/json, or the parameter query with GET.',
  );
}

/** Initial request headers of GraphiQL: with them, operations pass the CSRF check. */
function csrfHeaders(services: Services, { core }: FastifyRequest): string {
  const { header, cookie } = services.config.current.server.csrfprotection;
  const token = core.cookies.find(({ name }) => name === cookie)?.value;
  return JSON.stringify(token === undefined ? {} : { [header]: token });
}

/** Rules of GraphQL that are replaced by others, which say more. */
const ownRules: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [ValuesOfCorrectTypeRule, valuesRule],
  [FieldsOnCorrectTypeRule, fieldsRule],
  [KnownArgumentNamesRule, argumentsRule],
]);

/** The parser names the place where a document ends too early, but not what is missing there. */
function explainedSyntaxError(error: GraphQLError): GraphQLError {
  if (!error.message.endsWith('found <EOF>.')) return error;
  const message = `${error.message} The document ends before all of its braces are closed.`;
  return new GraphQLError(message, { source: error.source, positions: error.positions, extensions: error.extensions });
}

/**
 * Names of operations are checked before Yoga does; values in documents with the same words as variables.
 * @param dev without it, nothing of the schema is named to whoever does not know it
 */
function explainInput(dev: boolean): Plugin<GraphqlContext> {
  const further = introspectionRules(dev);
  return {
    // Some clients send an empty name for an operation without one.
    onParams({ params, setParams }) {
      if (params.operationName === '') setParams({ ...params, operationName: undefined });
    },
    onParse:
      () =>
      ({ result, replaceParseResult, context: { params } }) => {
        if (result instanceof GraphQLError) replaceParseResult(explainedSyntaxError(result));
        else if (!(result instanceof Error)) checkOperationName(result as DocumentNode, params.operationName);
      },
    onValidate({ validateFn, setValidationFn }) {
      setValidationFn((schema, document, rules = specifiedRules, options) => {
        const ours = (rules as typeof specifiedRules).map((rule) => ownRules.get(rule) ?? rule);
        return validateFn(schema, document, [...ours, ...further], { ...options, hideSuggestions: !dev });
      });
    },
  };
}

/** Formats all errors of a response with codes of the error catalogue. */
function presentErrors(): Plugin<GraphqlContext> {
  return {
    onResultProcess(process) {
      const { result, serverContext } = process;
      if (!('errors' in result) || !result.errors?.length) return;
      const request = requestOf(serverContext);
      process.setResult({
        ...result,
        errors: result.errors.map((error) => presentError(asGraphqlError(error), request)),
      });
    },
  };
}

/** Yoga passes the context without its type. */
function requestOf(context: unknown): FastifyRequest {
  return (context as GraphqlContext).fastify.request;
}
