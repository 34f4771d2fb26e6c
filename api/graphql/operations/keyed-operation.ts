import {
  getOperationAST,
  Kind,
  OperationTypeNode,
  type ExecutionArgs,
  type ExecutionResult,
  type OperationDefinitionNode,
} from 'graphql';
import { earlierAnswer, idempotencyHeader, keep, refusedKey, replayHeaders } from '../../http/idempotent-requests.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { FieldConfig } from '../passthrough-field.ts';
import { rootFields } from '../documents/root-fields.ts';
import { isForm } from '../uploads.ts';

/** Extension of fields whose answer is never kept: why. */
const unkeyed = Symbol('refuses keys of idempotency');

/** @param reason ends the sentence that begins with the name of the field */
export function withoutKey(config: FieldConfig, reason: string): FieldConfig {
  return { ...config, extensions: { ...config.extensions, [unkeyed]: reason } };
}

/** A result that serializes itself; Yoga calls `stringify`. */
type SerializedResult = ExecutionResult & { readonly stringify: () => string };

/**
 * The result that an earlier mutation with the same `Idempotency-Key` got; undefined if there is none, or no key. Queries have no effect
 * that a key could keep from happening twice.
 * @throws AppError invalid_input for mutations whose result is never kept; see `earlierAnswer` for others
 */
export async function earlierResult(
  input: ExecutionArgs,
  { fastify, services, unit }: GraphqlContext,
): Promise<SerializedResult | undefined> {
  const { request, reply } = fastify;
  const operation = getOperationAST(input.document, input.operationName);
  if (request.headers[idempotencyHeader] === undefined || operation?.operation !== OperationTypeNode.MUTATION)
    return undefined;
  // Files of a form have new ids each time.
  if (isForm(request)) throw refusedKey('files came with the operation; upload them first, and name the uploads in it');
  const reason = refusalOf(input, operation);
  if (reason !== undefined) throw refusedKey(reason);
  // The text of the document and not the request, which may name the document by its hash.
  const asked = [input.document.loc?.source.body, input.operationName ?? null, input.variableValues ?? null];
  const kept = await earlierAnswer(request, services, unit, { operation: 'mutation', input: asked });
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

/** Why a field of the operation refuses keys; undefined if none does. */
function refusalOf({ schema, document }: ExecutionArgs, { selectionSet }: OperationDefinitionNode): string | undefined {
  const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
  const byName = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  const fields = schema.getMutationType()?.getFields() ?? {};
  const reasons = rootFields(selectionSet, byName).flatMap(({ name: { value } }) => {
    const reason = fields[value]?.extensions[unkeyed];
    return typeof reason === 'string' ? [`${value} ${reason}`] : [];
  });
  return reasons[0];
}
