import {
  getNamedType,
  getNullableType,
  getOperationAST,
  GraphQLError,
  isInputObjectType,
  isInputType,
  isListType,
  Kind,
  parse,
  Source,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { UploadPurpose } from '#entities/kit/model/files/upload-purpose.ts';
import { checkDocument } from './document-limits.ts';

/** Name under which an input field carries its `UploadPurpose`. */
const purposeKey = 'uploadPurpose';

/** Further properties of an input field that takes a file. */
export function takesFile(purpose: UploadPurpose | undefined): {
  readonly extensions?: Readonly<Record<string, unknown>>;
} {
  return purpose ? { extensions: { [purposeKey]: purpose } } : {};
}

/** The file field that a place among the variables feeds, by the names and list indexes that lead to it. */
export type VariablePurposes = (path: readonly string[]) => UploadPurpose | undefined;

/**
 * Reads from an operation which file fields its variables feed.
 * @returns knows no purpose for operations that are invalid: they are refused when they are executed
 * @throws AppError limit_exceeded
 */
export function variablePurposes(schema: GraphQLSchema, { query, operationName }: GraphqlRequest): VariablePurposes {
  const operation = operationOf(query, operationName === '' ? undefined : operationName);
  if (!operation) return () => undefined;
  return ([name = '', ...rest]) => {
    const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    const type = definition && typeFromAST(schema, definition.type);
    if (!isInputType(type)) return undefined;
    return purposeIn(rest.length === 0 ? fieldFedBy(schema, operation, name) : fieldAt(type, rest));
  };
}

interface GraphqlRequest {
  readonly query?: unknown;
  readonly operationName?: unknown;
}

function operationOf(query: unknown, name: unknown): OperationDefinitionNode | undefined {
  if (typeof query !== 'string') return undefined;
  try {
    checkDocument(new Source(query));
    return getOperationAST(parse(query), typeof name === 'string' ? name : undefined) ?? undefined;
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

/** The input field in which the operation uses a variable. */
function fieldFedBy(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  name: string,
): GraphQLInputField | undefined {
  const types = new TypeInfo(schema);
  let found: GraphQLInputField | undefined;
  const visitor = visitWithTypeInfo(types, {
    ObjectField: ({ name: field, value }) => {
      if (value.kind === Kind.VARIABLE && value.name.value === name)
        found ??= fieldOf(types.getParentInputType() ?? undefined, field.value);
    },
  });
  visit(operation, visitor);
  return found;
}

/** The input field to which a path within the value of a variable leads. */
function fieldAt(type: GraphQLInputType, path: readonly string[]): GraphQLInputField | undefined {
  let inner: GraphQLInputType | undefined = type;
  let field: GraphQLInputField | undefined;
  for (const step of path) {
    const plain: GraphQLInputType | undefined = inner && getNullableType(inner);
    if (isListType(plain)) {
      inner = plain.ofType;
      continue;
    }
    field = fieldOf(plain, step);
    inner = field?.type;
  }
  return field;
}

function fieldOf(type: GraphQLInputType | undefined, name: string): GraphQLInputField | undefined {
  const named = type && getNamedType(type);
  return isInputObjectType(named) ? named.getFields()[name] : undefined;
}

function purposeIn(field: GraphQLInputField | undefined): UploadPurpose | undefined {
  return field?.extensions[purposeKey] as UploadPurpose | undefined;
}
