import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  FieldsOnCorrectTypeRule,
  getOperationAST,
  Kind,
  OperationTypeNode,
  specifiedRules,
  ValuesOfCorrectTypeRule,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  type ValidationRule,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { Type } from 'typebox';
import { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { anonymousCaller } from '#entities/kit/model/caller.ts';
import { JsonRefusal, parseStrictJson } from '#entities/kit/base/strict-json.ts';
import { withinDeadline } from '../http/deadline.ts';
import { signInFirst } from '../http/plugins/sign-in-first.ts';
import { isConflict, repeatRequest } from '../http/repeat-request.ts';
import { workOf } from '../http/request-context.ts';
import type { Services } from '../http/services.ts';
import { graphiqlHeaders, graphiqlPage, serveGraphiqlFiles } from './graphiql.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { fieldsRule } from './fields-rule.ts';
import { documentCaches, limitDocuments } from './document-limits.ts';
import { earlierResult, keepResult } from './keyed-operation.ts';
import { knownTargets } from './known-targets.ts';
import { answerInOneStatement } from './single-statement-query.ts';
import { asGraphqlError, asRequestError, presentError, refusalAnswer, rootOf } from './graphql-errors.ts';
import { checkOperationName, requestErrors, valuesRule } from './input-problems.ts';
import { onlyJson } from './only-json.ts';
import { rootFields } from './root-fields.ts';
import { formType, isForm, readsForms, releaseForm } from './uploads.ts';

/** Title of the GraphiQL page. */
const title = 'Core server: GraphiQL';

const anyObject = Type.Unsafe({ type: ['object', 'null'] });
const anyText = Type.Unsafe({ type: ['string', 'null'] });

/** The members of a request (GraphQL over HTTP, section 5.1). The document determines what variables may contain. */
const bodySchema = Type.Object(
  {
    query: Type.String({ minLength: 1 }),
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
  const yoga: YogaServerInstance<GraphqlContext, object> = createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: services.config.current.server.dev
      ? (_request, context) => ({ title, headers: csrfHeaders(services, requestOf(context)) })
      : false,
    renderGraphiQL: graphiqlPage,
    cors: false,
    logging: false,
    multipart: false,
    // `presentErrors` masks them.
    maskedErrors: false,
    parserAndValidationCache: documentCaches(),
    plugins: [onlyJson(), limitDocuments(), explainInput(), unitOfWorkPerOperation(), presentErrors()],
  });

  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
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
  if (services.config.current.server.dev) serveGraphiqlFiles(app);
  const config = {
    isRepeatable: true,
    acceptsTokens: true,
    acceptsSingleSignOn: true,
    errorAnswer: refusalAnswer,
    limitClass: 'graphql',
  } as const;
  app.route({
    method: 'GET',
    url: '/graphql',
    config,
    schema: { hide: true, querystring: querySchema },
    preHandler: (request, _reply, done) => {
      const { query, variables, extensions } = request.query as Readonly<Record<string, string | undefined>>;
      // Browsers get GraphiQL.
      const isMissing = !query && !request.headers.accept?.includes('text/html');
      done(isMissing ? noQuery() : (jsonProblem('variables', variables) ?? jsonProblem('extensions', extensions)));
    },
    handler,
  });
  void app.register((scope, _options, done) => {
    // `readsForms` reads them.
    scope.addContentTypeParser(formType, (_request, _body, accept) => accept(null));
    scope.route({
      method: 'POST',
      url: '/graphql',
      config: { ...config, receives: ['application/json', formType] },
      schema: { hide: true, body: bodySchema },
      preValidation: readsForms(services, schema),
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
    // What came as a form is one JSON document by now.
    headers: {
      ...request.headers,
      ...(isForm(request) ? { 'content-type': 'application/json' } : {}),
      host: 'localhost',
    },
    body: request.body,
    // Yoga reads the body from here when `body` is undefined.
    [Symbol.asyncIterator]: () => request.raw[Symbol.asyncIterator](),
  };
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

/**
 * Runs each operation in one unit of work: read-only for queries, committed before the response is created, and rolled back with
 * `data` null when any field failed.
 */
function unitOfWorkPerOperation(): Plugin<GraphqlContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: GraphqlContext = args.contextValue;
      const { request } = context.fastify;
      const execute = executeFn as Execute;
      setExecuteFn(async (input): Promise<ExecutionResult> => {
        try {
          return await repeatRequest(request, context.services, () => attempt(input, context, execute), rootOf);
        } catch (error) {
          return { errors: [asGraphqlError(error)], data: null };
        } finally {
          // No effect after a commit.
          await request.core.unit?.rollback();
        }
      });
    },
  };
}

/** Whether the operation reads nothing but what everybody may ask: the schema, and who they are. */
function isForEverybody({ document, operationName }: ExecutionArgs): boolean {
  const operation = getOperationAST(document, operationName);
  if (!operation) return false;
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const byName = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  return rootFields(operation.selectionSet, byName).every(
    ({ name }) => name.value === 'self' || name.value.startsWith('__'),
  );
}

type Execute = (input: ExecutionArgs) => Promise<ExecutionResult>;

/**
 * Runs an operation in a unit of work of its own, and commits it.
 * @throws GraphQLError for a field that failed because of a conflict with other requests
 */
async function attempt(input: ExecutionArgs, context: GraphqlContext, execute: Execute): Promise<ExecutionResult> {
  const { request } = context.fastify;
  const { core } = request;
  const operation = getOperationAST(input.document, input.operationName)?.operation;
  // As the REST routes do.
  if (core.caller === anonymousCaller && !isForEverybody(input)) throw signInFirst();
  const unit = context.services.database.unitOfWork({
    ...workOf(core),
    readOnly: operation === OperationTypeNode.QUERY,
  });
  context.unit = unit;
  core.unit = unit;
  // The costs of an earlier attempt do not count.
  delete context.budget;
  const alone = await withinDeadline(request, answerInOneStatement(input, context));
  if (alone) return alone;
  const earlier = await withinDeadline(request, earlierResult(input, context));
  if (earlier) {
    await unit.commit();
    return earlier;
  }
  const targets = knownTargets(input);
  if (targets.length > 0) await withinDeadline(request, unit.data.lockAll(targets));
  const result = await withinDeadline(request, execute(input));
  // Without `data` the execution did not begin: a variable has an invalid value.
  if (!('data' in result)) return { errors: requestErrors(input, result).map(asRequestError) };
  const conflict = result.errors?.find((error) => isConflict(rootOf(error)));
  if (conflict) throw conflict;
  if (result.errors?.length) return { errors: result.errors, data: null };
  const kept = await keepResult(result, context);
  await unit.commit();
  return kept;
}

/** Rules of GraphQL that are replaced by others, which say more. */
const ownRules: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [ValuesOfCorrectTypeRule, valuesRule],
  [FieldsOnCorrectTypeRule, fieldsRule],
]);

/** Names of operations are checked before Yoga does; values in documents with the same words as variables. */
function explainInput(): Plugin<GraphqlContext> {
  return {
    onParse:
      () =>
      ({ result, context: { params } }) => {
        if (!(result instanceof Error)) checkOperationName(result as DocumentNode, params.operationName);
      },
    onValidate({ validateFn, setValidationFn }) {
      setValidationFn((schema, document, rules = specifiedRules, ...more) => {
        const ours = (rules as typeof specifiedRules).map((rule) => ownRules.get(rule) ?? rule);
        return validateFn(schema, document, ours, ...more);
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
