import { getOperationAST, Kind, OperationTypeNode, type ExecutionArgs, type ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { inSpan } from '#entities/kit/base/trace.ts';
import { anonymousCaller, type Caller } from '#entities/kit/model/caller.ts';
import { withinDeadline } from '../../http/limits/deadline.ts';
import { signInFirst } from '../../http/plugins/sign-in-first.ts';
import { isConflict, repeatRequest } from '../../http/repeat-request.ts';
import { workOf } from '../../http/request-context.ts';
import { asGraphqlError, asRequestError, rootOf } from '../graphql-errors.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { requestErrors } from '../input-problems.ts';
import { knownTargets } from '../derived/known-targets.ts';
import { costLimits } from '../documents/operation-budget.ts';
import { rootFields } from '../documents/root-fields.ts';
import { answerInOneStatement } from '../single-statement-query.ts';
import { earlierResult, keepResult } from './keyed-operation.ts';
import { measureOperation } from './measure-operation.ts';
import { operationLabels } from './operation-metrics.ts';
import type { OperationQueue } from './operation-queue.ts';
import { withExtensions } from './response-extensions.ts';

/**
 * Runs each operation in one unit of work: read-only for queries, committed before the response is created, and rolled back with
 * `data` null when any field failed.
 */
export function unitOfWorkPerOperation(queue: OperationQueue): Plugin<GraphqlContext> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context: GraphqlContext = args.contextValue;
      const { request } = context.fastify;
      const execute = executeFn as Execute;
      const run = async (input: ExecutionArgs, arrivedAt: number): Promise<ExecutionResult> => {
        const startedAt = performance.now();
        const { type, operation } = operationLabels(input);
        const result = await inSpan(`graphql ${type} ${operation}`, { 'graphql.operation.type': type }, () =>
          repeatRequest(request, context.services, () => attempt(input, context, execute), rootOf),
        );
        return withExtensions(result, context, { arrivedAt, startedAt });
      };
      setExecuteFn(async (input): Promise<ExecutionResult> => {
        const { caller, deadline } = request.core;
        const arrivedAt = performance.now();
        try {
          return await queue.run(ownerOf(caller), deadline, () => run(input, arrivedAt));
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

/** Owner of the place that an operation takes in the queue: that of its organization, as far as it has one. */
function ownerOf({ organizationId, subjectId }: Caller): string {
  return organizationId ?? subjectId ?? '';
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
  // The costs of an earlier attempt are not added.
  delete context.budget;
  const alone = await withinDeadline(request, answerInOneStatement(input, context));
  if (alone) return alone;
  const { server } = context.services.config.current;
  measureOperation(input, {
    registry: context.services.database.options.registry,
    limits: costLimits(server.complexitylimit),
    largestPage: server.maxresultlimit,
  });
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
