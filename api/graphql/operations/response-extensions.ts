import type { ExecutionResult } from 'graphql';
import type { GraphqlContext } from '../graphql-context.ts';
import { noCost } from '../documents/operation-budget.ts';

/** A result that may serialize itself (`answerInOneStatement`). */
type Result = ExecutionResult & { readonly stringify?: () => string };

/** When an operation arrived and when it began to run, as `performance.now()`. */
interface OperationTimes {
  readonly arrivedAt: number;
  readonly startedAt: number;
}

/**
 * Adds to the result of an operation what it has cost (`server.enablegraphextensions`). The number of statements is that of a query
 * without errors: that of a refusal, or of a change of many records, can depend on records that the caller cannot view. A result with
 * errors stays as it is, because each error has the request id.
 */
export function withExtensions(result: Result, context: GraphqlContext, times: OperationTimes): Result {
  const { enablegraphextensions, complexitylimit } = context.services.config.current.server;
  if (!enablegraphextensions || result.errors?.length) return result;
  const { fields, records, values, conditions } = context.budget?.spent ?? noCost;
  const extensions = {
    request_id: context.fastify.request.id,
    cost: { fields, fields_limit: complexitylimit, records, values, conditions },
    timing: {
      waited_ms: rounded(times.startedAt - times.arrivedAt),
      duration_ms: rounded(performance.now() - times.startedAt),
    },
    ...(context.unit.context.readOnly ? { statements: context.unit.statements } : {}),
  };
  const { stringify } = result;
  if (!stringify) return { ...result, extensions };
  // The text is an object with one member, `data`.
  return { ...result, stringify: () => `${stringify().slice(0, -1)},"extensions":${JSON.stringify(extensions)}}` };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
