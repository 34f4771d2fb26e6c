import type { FastifyRequest } from 'fastify';
import {
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
} from 'graphql';
import type { YogaServerInstance } from 'graphql-yoga';
import { asGraphqlError, asRequestError, presentError } from '../graphql-errors.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { onlySubscriptions } from './operation-stream.ts';

/** An operation as a client sends it (GraphQL over HTTP, section 5.1). */
export interface SentOperation {
  readonly query?: string | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

export type Yoga = YogaServerInstance<GraphqlContext, object>;
type OpenContext = Omit<GraphqlContext, 'unit'>;

/**
 * Parses and validates an operation with the same limits and rules as over HTTP.
 * @returns what is to be executed, or what is wrong with it
 * @throws AppError invalid_input for other operations than subscriptions
 */
export function preparedSubscription(
  yoga: Yoga,
  sent: SentOperation,
  context: OpenContext,
): { readonly args: ExecutionArgs } | { readonly errors: readonly GraphQLError[] } {
  const { query, operationName, variables } = sent;
  // Yoga passes the parameters to its plugins.
  const enveloped = yoga.getEnveloped({ ...context, params: { query, operationName, variables } } as never);
  const schema = enveloped.schema as GraphQLSchema;
  let document: DocumentNode;
  try {
    document = enveloped.parse(query ?? '') as DocumentNode;
  } catch (error) {
    return { errors: [asRequestError(asGraphqlError(error))] };
  }
  const operation = getOperationAST(document, operationName);
  if (operation && operation.operation !== OperationTypeNode.SUBSCRIPTION) throw onlySubscriptions();
  const errors = enveloped.validate(schema, document) as readonly GraphQLError[];
  if (errors.length > 0) return { errors: errors.map((error) => asRequestError(asGraphqlError(error))) };
  return {
    args: {
      schema,
      document,
      contextValue: context,
      ...(operationName ? { operationName } : {}),
      ...(variables == null ? {} : { variableValues: variables }),
    },
  };
}

/** Whether a text is a document whose operation is a subscription. A document that cannot be parsed has none. */
export function isSubscription(yoga: Yoga, sent: SentOperation, context: OpenContext): boolean {
  if (typeof sent.query !== 'string') return false;
  try {
    const { parse } = yoga.getEnveloped({ ...context, params: sent } as never);
    return (
      getOperationAST(parse(sent.query) as DocumentNode, sent.operationName || undefined)?.operation ===
      OperationTypeNode.SUBSCRIPTION
    );
  } catch {
    // The code that executes it reports the problem.
    return false;
  }
}

/** An error as it is sent: without what is meant for HTTP. */
export function sentError(thrown: unknown, request: FastifyRequest): GraphQLError {
  const { message, nodes, source, positions, path, extensions } = presentError(asGraphqlError(thrown), request);
  const { http: _http, ...others } = extensions;
  return new GraphQLError(message, { nodes, source, positions, path, extensions: others });
}
