import { getOperationAST, Kind, type ExecutionArgs, type ExecutionResult, type GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { FastifyRequest } from 'fastify';
import { errorCatalogue } from '#entities/kit/base/error-catalogue.ts';
import { isAppError, statusOf } from '#entities/kit/base/errors.ts';
import type { EndedOperation, Metrics } from '../../http/http-metrics.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { rootOf } from '../graphql-errors.ts';
import { rootFields } from '../documents/root-fields.ts';

/**
 * Type and root field of an operation, as metrics and traces name it. Only names of the schema get there: names of operations are the
 * callers' own, and each new one would be a series of its own.
 */
export function operationLabels({ document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>): {
  readonly type: string;
  readonly operation: string;
} {
  const operation = getOperationAST(document, operationName);
  if (!operation) return { type: 'unknown', operation: 'unknown' };
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const byName = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  const names = new Set(rootFields(operation.selectionSet, byName).map(({ name }) => name.value));
  const [name = 'none'] = names;
  return { type: operation.operation, operation: names.size > 1 ? 'several' : name };
}

/** Measures operations, and counts requests that are refused before they are executed. Must come after the plugin that presents errors. */
export function operationMetrics(metrics: Metrics): Plugin<GraphqlContext> {
  const executed = new WeakSet<FastifyRequest>();
  return {
    onExecute({ args }) {
      const { request } = (args.contextValue as GraphqlContext).fastify;
      executed.add(request);
      const labels = operationLabels(args);
      const startedAt = performance.now();
      return {
        onExecuteDone({ result }) {
          metrics.operationEnded({
            ...labels,
            outcome: outcomeOf(result as ExecutionResult),
            durationMs: performance.now() - startedAt,
            traceId: request.core.span?.traceId,
          });
        },
      };
    },
    onResultProcess({ result, serverContext }) {
      // Yoga passes the context without its type.
      const { request } = (serverContext as unknown as GraphqlContext).fastify;
      if (executed.has(request)) return;
      const errors = ('errors' in result ? result.errors : undefined) ?? [];
      for (const { extensions } of errors) {
        const code = String(extensions?.['code']);
        metrics.graphqlRejections.inc({ code: Object.hasOwn(errorCatalogue, code) ? code : 'other' });
      }
    },
  };
}

function outcomeOf({ errors = [] }: ExecutionResult): EndedOperation['outcome'] {
  if (errors.length === 0) return 'ok';
  return errors.some(isFailure) ? 'failed' : 'refused';
}

/** Whether an error is the server's: neither a refusal nor a value that does not fit. */
function isFailure(error: GraphQLError): boolean {
  const cause = rootOf(error);
  if (isAppError(cause)) return statusOf(cause.code) >= 500;
  return cause !== error;
}
