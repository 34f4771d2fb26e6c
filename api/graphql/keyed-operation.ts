import { getOperationAST, Kind, OperationTypeNode, type ExecutionArgs, type ExecutionResult } from 'graphql';
import { earlierAnswer, idempotencyHeader, keep, replayHeaders } from '../http/idempotent-requests.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { FieldConfig } from './passthrough-field.ts';
import { rootFields } from './root-fields.ts';
import { isForm } from './uploads.ts';

/** Extension of fields whose answer has a credential. */
const credential = Symbol('answers with a credential');

export function withCredential(config: FieldConfig): FieldConfig {
  return { ...config, extensions: { ...config.extensions, [credential]: true } };
}

/** A result that serializes itself; Yoga calls `stringify`. */
type SerializedResult = ExecutionResult & { readonly stringify: () => string };

/** The result that an earlier mutation with the same `Idempotency-Key` got; undefined if there is none, or no key. */
export async function earlierResult(
  input: ExecutionArgs,
  { fastify, services, unit }: GraphqlContext,
): Promise<SerializedResult | undefined> {
  const { request, reply } = fastify;
  // What came with a form has new ids each time.
  if (request.headers[idempotencyHeader] === undefined || isForm(request) || !isKeyable(input)) return undefined;
  const kept = await earlierAnswer(request, services, unit, { operation: 'mutation', input: request.body });
  if (!kept) return undefined;
  replayHeaders(reply, kept);
  return { data: {}, stringify: () => kept.text };
}

/** Keeps the result of a mutation whose key is reserved, before its changes are committed. */
export async function keepResult(
  result: ExecutionResult,
  { fastify, services, unit }: GraphqlContext,
): Promise<ExecutionResult> {
  const { keyed } = fastify.request.core;
  if (!keyed) return result;
  const text = JSON.stringify({ data: result.data });
  await keep(unit, keyed, { status: 200, headers: {}, text }, services);
  return { ...result, stringify: () => text } as SerializedResult;
}

/** Whether the operation is a mutation none of whose fields answers with a credential. */
function isKeyable({ schema, document, operationName }: ExecutionArgs): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return false;
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const byName = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  const fields = schema.getMutationType()?.getFields() ?? {};
  return rootFields(operation.selectionSet, byName).every(({ name }) => !fields[name.value]?.extensions[credential]);
}
