import type { FastifyInstance } from 'fastify';
import { getOperationAST, GraphQLError, OperationTypeNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { isAppError } from '#entities/kit/errors.ts';
import { asAppError } from '../problem.ts';
import type { Services } from '../services.ts';
import type { GraphqlContext } from './context.ts';

/** GraphQL over HTTP at `/graphql`: the same callers, CSRF check and units of work as REST. */
export function graphqlServer(app: FastifyInstance, services: Services, schema: GraphQLSchema): void {
  const yoga: YogaServerInstance<GraphqlContext, object> = createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    graphiql: services.config.current.server.dev,
    cors: false,
    logging: false,
    multipart: false,
    maskedErrors: { maskError: (error) => presented(error, 'unknown') },
    plugins: [unitOfWorkPerOperation()],
  });
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    schema: { hide: true },
    handler: async (request, reply) => {
      const response = await yoga.handleNodeRequest(request, {
        services,
        fastify: { request, reply },
      });
      for (const [name, value] of response.headers) void reply.header(name, value);
      void reply.code(response.status);
      // Buffered: the unit of work has ended, and an answer is small next to what made it.
      return reply.send(Buffer.from(await response.arrayBuffer()));
    },
  });
}

/**
 * One unit of work per operation: read only for queries, committed before the answer is made, rolled back with `data` null
 * when any field failed.
 */
function unitOfWorkPerOperation(): Plugin<GraphqlContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: GraphqlContext = args.contextValue;
      const { core } = context.fastify.request;
      const operation = getOperationAST(args.document, args.operationName);
      setExecuteFn(async (input): Promise<ExecutionResult> => {
        const unit = context.services.database.unitOfWork({
          caller: core.caller,
          requestId: core.requestId,
          traceparent: core.traceparent,
          deadline: core.deadline,
          readOnly: operation?.operation === OperationTypeNode.QUERY,
        });
        context.unit = unit;
        core.unit = unit;
        try {
          const result = (await executeFn(input)) as ExecutionResult;
          if (result.errors?.length)
            return { errors: result.errors.map((error) => logged(error, context)), data: null };
          await unit.commit();
          return result;
        } catch (error) {
          return { errors: [logged(error, context)], data: null };
        } finally {
          // Does nothing after a commit.
          await unit.rollback();
        }
      });
    },
  };
}

/** Errors of the executor carry what was thrown; unexpected ones are masked and logged. */
function logged(error: unknown, context: GraphqlContext): GraphQLError {
  const { request } = context.fastify;
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const answer = presented(error, request.id);
  if (!(thrown instanceof GraphQLError) && asAppError(thrown).status >= 500) {
    request.log.error({ err: thrown, code: answer.extensions['code'] }, 'graphql operation failed');
  }
  return answer;
}

/** An error as the caller sees it: a code of the catalogue in `extensions.code`. */
function presented(error: unknown, requestId: string): GraphQLError {
  const position =
    error instanceof GraphQLError
      ? { nodes: error.nodes, source: error.source, positions: error.positions, path: error.path }
      : {};
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  // Syntax and validation errors of the document itself.
  if (thrown instanceof GraphQLError) {
    return thrown.extensions['code']
      ? thrown
      : new GraphQLError(thrown.message, {
          ...position,
          extensions: { ...thrown.extensions, code: 'invalid_input', request_id: requestId },
        });
  }
  const known = isAppError(thrown) ? thrown : asAppError(thrown);
  return new GraphQLError(known.message, {
    ...position,
    extensions: {
      code: known.code,
      request_id: requestId,
      ...(known.details.fields ? { errors: known.details.fields } : {}),
    },
  });
}
