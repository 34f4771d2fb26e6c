import {
  getArgumentValues,
  getOperationAST,
  Kind,
  locatedError,
  OperationTypeNode,
  validateExecutionArgs,
  type ExecutionArgs,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
} from 'graphql';
import type { GraphqlContext } from './graphql-context.ts';
import { inFieldSpan } from './traced-fields.ts';

/** Source of a selection: parts of the resolver's info. */
export type SelectionInfo = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues' | 'fieldNodes'>;

/**
 * Compiles the one statement of an operation, which returns the field as JSON text.
 * @returns undefined when resolvers have to complete what the statement returns
 * @throws AppError when the selection is rejected, before anything is read
 */
type SingleStatementRead = (
  args: Readonly<Record<string, unknown>>,
  context: GraphqlContext,
  info: SelectionInfo,
) => (() => Promise<string>) | undefined;

/** Extension of fields that can be read in one statement. */
const readInOneStatement = Symbol('read in one statement');

export function readableInOneStatement(read: SingleStatementRead): {
  readonly [readInOneStatement]: SingleStatementRead;
} {
  return { [readInOneStatement]: read };
}

/** A result that serializes itself; Yoga calls `stringify`. */
type SerializedResult = ExecutionResult & { readonly stringify: () => string };

/**
 * Answers a query of one derived field without executing it field by field: the statement returns the complete JSON.
 * @returns undefined for all other operations, and for selections that are rejected: the executor answers these
 */
export async function answerInOneStatement(
  args: ExecutionArgs,
  context: GraphqlContext,
): Promise<SerializedResult | ExecutionResult | undefined> {
  const found = singleStatementField(args);
  if (!found) return undefined;
  const { node, field, read } = found;
  const as = (node.alias ?? node.name).value;
  const reading = prepared(args, context, node, field, read);
  if (!reading) {
    // The executor counts the costs again.
    delete context.budget;
    return undefined;
  }
  try {
    const text = await inFieldSpan(field.name, reading);
    return { data: {}, stringify: () => `{"data":{"${as}":${text}}}` };
  } catch (error) {
    return { errors: [locatedError(error, [node], [as])], data: null };
  }
}

interface SingleStatementField {
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly read: SingleStatementRead;
}

/** The root field of a query, when it is the only one, has no directives and can be read in one statement. */
function singleStatementField({ schema, document, operationName }: ExecutionArgs): SingleStatementField | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY || hasDirectives(operation)) return undefined;
  const [node, ...others] = operation.selectionSet.selections;
  if (others.length > 0 || node?.kind !== Kind.FIELD || hasDirectives(node)) return undefined;
  const field = schema.getQueryType()?.getFields()[node.name.value];
  const read = field?.extensions[readInOneStatement] as SingleStatementRead | undefined;
  return field && read ? { node, field, read } : undefined;
}

function hasDirectives({ directives = [] }: { readonly directives?: readonly unknown[] | undefined }): boolean {
  return directives.length > 0;
}

function prepared(
  args: ExecutionArgs,
  context: GraphqlContext,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  read: SingleStatementRead,
): (() => Promise<string>) | undefined {
  const validated = validateExecutionArgs(args);
  if (!('schema' in validated)) return undefined;
  const { schema, fragmentDefinitions: fragments, variableValues } = validated;
  try {
    const values = getArgumentValues(field, node, variableValues);
    return read(values, context, { schema, fragments, variableValues, fieldNodes: [node] });
  } catch {
    return undefined;
  }
}
