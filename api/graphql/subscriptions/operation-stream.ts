import {
  executeSubscriptionEvent,
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  validateSubscriptionArgs,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  type SelectionNode,
} from 'graphql';
import type { AppError } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SubscriberConnection, SubscriptionHub } from '../../subscriptions/subscription-hub.ts';
import { asGraphqlError, asRequestError, presentError } from '../graphql-errors.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import { requestErrors } from '../input-problems.ts';
import { costLimits, OperationBudget } from '../documents/operation-budget.ts';
import { measureOperation } from '../operations/measure-operation.ts';
import type { OperationQueue } from '../operations/operation-queue.ts';
import { rootFields } from '../documents/root-fields.ts';
import { SelectionReader } from '../documents/selection-reader.ts';
import type { SelectionInfo } from '../single-statement-query.ts';
import { streamOf, type StreamContext, type StreamSource } from './stream-field.ts';

interface OpenOptions {
  readonly context: Omit<GraphqlContext, 'unit'>;
  readonly hub: SubscriptionHub;
  readonly connection: SubscriberConnection;
  /** Caller that reads for its subscribers at the moment. */
  readonly deliveries: OperationQueue;
}

/** The messages of one subscription. `return` ends it at once, also while `next` waits. */
export class OperationStream implements AsyncIterableIterator<ExecutionResult, undefined> {
  readonly #source: StreamSource;
  readonly #execute: (value: unknown) => Promise<ExecutionResult>;

  constructor(source: StreamSource, execute: (value: unknown) => Promise<ExecutionResult>) {
    this.#source = source;
    this.#execute = execute;
  }

  /** @throws AppError for which it has ended */
  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const value = await this.#source.next();
    if (value === undefined) return { done: true, value: undefined };
    return { done: false, value: await this.#execute(value) };
  }

  // oxlint-disable-next-line require-await -- the interface wants a promise
  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    this.#source.close('client');
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * Begins a subscription: it is measured as every operation, and each of its messages is executed with what its source has read.
 * @returns a result with errors if the operation cannot be begun as it stands
 * @throws AppError
 */
export async function openOperation(
  args: ExecutionArgs,
  { context, hub, connection, deliveries }: OpenOptions,
): Promise<OperationStream | ExecutionResult> {
  hub.refuseUnlessEnabled();
  const { services, fastify } = context;
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: requestErrors(args, { errors: validated }).map(asRequestError) };
  const { registry } = services.database.options;
  const { complexitylimit, maxresultlimit } = services.config.current.server;
  measureOperation(args, { registry, limits: costLimits(complexitylimit), largestPage: maxresultlimit });

  const { schema, operation, fragmentDefinitions: fragments, variableValues } = validated;
  const isSelected = (node: SelectionNode) =>
    getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false;
  const nodes = rootFields(operation.selectionSet, fragments, isSelected);
  const [node] = nodes;
  const field = node && schema.getSubscriptionType()?.getFields()[node.name.value];
  const open = field && streamOf(field);
  if (!open) throw inputError([{ path: '/query', message: 'must select a field of the type Subscription' }]);

  const info: SelectionInfo = { schema, fragments, variableValues, fieldNodes: nodes };
  const stream: StreamContext = {
    services,
    hub,
    connection,
    info,
    read: (work) => readInTurn(work, connection, deliveries, services.config.current.server.writetimeout),
    selected: (name) => {
      const visited = new Set<string>();
      const below = nodes.flatMap(({ selectionSet }) =>
        selectionSet ? rootFields(selectionSet, fragments, isSelected, visited) : [],
      );
      const named = below.filter((one) => one.name.value === name);
      return [...Map.groupBy(named, responseName)].map(([as, fieldNodes]) => ({ as, info: { ...info, fieldNodes } }));
    },
    readerOf: (selected) =>
      new SelectionReader(registry, selected, {
        largestPage: maxresultlimit,
        budget: new OperationBudget(costLimits(complexitylimit)),
      }),
  };
  const source = await open(getArgumentValues(field, node, variableValues), stream);
  return new OperationStream(source, async (value) => {
    const contextValue: Omit<GraphqlContext, 'unit'> = context;
    const result = await executeSubscriptionEvent({ ...validated, contextValue, rootValue: { [field.name]: value } });
    hub.metrics.messages.inc({ field: field.name });
    if (!result.errors?.length) return result;
    return { ...result, errors: result.errors.map((error) => presentError(asGraphqlError(error), fastify.request)) };
  });
}

function responseName({ alias, name }: FieldNode): string {
  return (alias ?? name).value;
}

/** @throws AppError also of a full queue, after which the caller tries again */
function readInTurn<T>(
  work: (unit: UnitOfWork) => Promise<T>,
  { caller }: SubscriberConnection,
  deliveries: OperationQueue,
  timeoutMs: number,
): Promise<T> {
  const { organizationId, subjectId } = caller.current;
  return deliveries.run(organizationId ?? subjectId ?? '', Date.now() + timeoutMs, () => caller.read(work));
}

/** The error for an operation over a transport that has subscriptions only. */
export function onlySubscriptions(): AppError {
  return inputError([
    {
      path: '/query',
      message: 'must be a subscription: over a websocket there are no queries and mutations; send them with POST',
    },
  ]);
}
