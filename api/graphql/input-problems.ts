import {
  getNamedType,
  getOperationAST,
  GraphQLError,
  isEnumType,
  isInputObjectType,
  isInputType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  typeFromAST,
  type ASTVisitor,
  type ConstValueNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValidationContext,
  type ValueNode,
} from 'graphql';
import { didYouMean } from '#entities/kit/base/did-you-mean.ts';
import { maxProblems, type FieldProblem } from '#entities/kit/base/errors.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { expectation, found, mismatch, oneOf, required } from '#entities/kit/base/schema-problem.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { limitProblem } from './scalars/integer-limits.ts';
import { unknownName } from '../http/response/unknown-name.ts';
import { asGraphqlError } from './graphql-errors.ts';

const refusedNames = Symbol('refused names');

/** Extension of an input type: names that it does not have, each with the reason. */
export function refusing(names: ReadonlyMap<string, string>): { readonly [refusedNames]: ReadonlyMap<string, string> } {
  return { [refusedNames]: names };
}

const ownCheck = Symbol('own check');
type Check = (values: Readonly<Record<string, unknown>>) => readonly FieldProblem[];

/** Extension of an input type: what the data layer says of values that their types accept, of some of its fields. */
export function checking(check: Check): { readonly [ownCheck]: Check } {
  return { [ownCheck]: check };
}

/** How a value is read: as JSON, or as it stands in a document. */
interface Reading<V> {
  /** Whether it is a variable, whose value is checked when the operation is executed. */
  isVariable(value: V): boolean;
  isNull(value: V): boolean;
  items(value: V): readonly V[] | undefined;
  members(value: V): ReadonlyMap<string, V> | undefined;
  /** Coerces a value of a leaf type. @throws when it has no such value */
  coerce(type: GraphQLLeafType, value: V): unknown;
  plain(value: V): unknown;
}

const json: Reading<unknown> = {
  isVariable: () => false,
  isNull: (value) => value === null,
  items: (value) => (Array.isArray(value) ? (value as unknown[]) : undefined),
  members: (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? new Map(Object.entries(value)) : undefined,
  coerce: (type, value) => type.coerceInputValue(value),
  plain: (value) => value,
};

const literal: Reading<ValueNode> = {
  isVariable: ({ kind }) => kind === Kind.VARIABLE,
  isNull: ({ kind }) => kind === Kind.NULL,
  items: (node) => (node.kind === Kind.LIST ? node.values : undefined),
  members: (node) =>
    node.kind === Kind.OBJECT ? new Map(node.fields.map(({ name, value }) => [name.value, value])) : undefined,
  coerce: (type, node) =>
    type.coerceInputLiteral ? type.coerceInputLiteral(node as ConstValueNode) : type.parseLiteral(node, undefined),
  plain: (node) => {
    if (node.kind === Kind.LIST) return [];
    if (node.kind === Kind.OBJECT) return {};
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return Number(node.value);
    return 'value' in node ? node.value : null;
  },
};

/** Types and formats of JSON Schema by the scalars that accept them. */
const schemaTypes: Readonly<Record<string, string>> = {
  String: 'string',
  ID: 'string',
  Int: 'integer',
  BigInt: 'integer',
  Boolean: 'boolean',
  Date: 'date',
  DateTime: 'date-time',
  Decimal: 'decimal',
};

/**
 * Problem of a value of an input type, in the words of the REST API. If its types do not accept it, the operation is not executed;
 * what the data layer would say of the rest is then reported as well, so that one answer names all that can be known without reading data.
 */
function problemsOf<V>(type: GraphQLInputType, value: V, reading: Reading<V>): FieldProblem[] {
  if (typeProblems(type, value, reading).next().done) return [];
  return typeProblems(type, value, reading, '', true).take(maxProblems).toArray();
}

/** @param checksData whether the checks of input types are made too */
function* typeProblems<V>(
  type: GraphQLInputType,
  value: V,
  reading: Reading<V>,
  path = '',
  checksData = false,
): Generator<FieldProblem> {
  if (reading.isVariable(value)) return;
  if (isNonNullType(type)) {
    if (reading.isNull(value)) yield { path, message: 'must not be empty' };
    else yield* typeProblems(type.ofType, value, reading, path, checksData);
    return;
  }
  if (reading.isNull(value)) return;
  if (isListType(type)) {
    const items = reading.items(value);
    if (items === undefined) yield* typeProblems(type.ofType, value, reading, path, checksData);
    else
      for (const [index, item] of items.entries())
        yield* typeProblems(type.ofType, item, reading, `${path}/${index}`, checksData);
  } else if (isInputObjectType(type)) {
    const members = reading.members(value);
    if (members === undefined) {
      const sent = found(reading.plain(value));
      const isComparison = type.getFields()['eq'] !== undefined;
      yield {
        path,
        message: isComparison ? `must be comparisons, such as { eq: … }${sent}` : objectExpectation(type) + sent,
      };
      return;
    }
    const fields = type.getFields();
    const accepted: Record<string, unknown> = {};
    const check = type.extensions[ownCheck] as Check | undefined;
    for (const [name, member] of members) {
      const field = fields[name];
      if (field) {
        const problems = typeProblems(field.type, member, reading, `${path}/${name}`, checksData).toArray();
        const plain = problems.length > 0 ? reading.plain(member) : undefined;
        // For a number that the type has no room for, the data layer reports the limit of the field.
        const own = Number.isInteger(plain) ? (check?.({ [name]: plain }) ?? []) : [];
        yield* own.length > 0 ? own.map((problem) => ({ ...problem, path: path + problem.path })) : problems;
        const coerced = problems.length === 0 ? coercedLeaves(field.type, member, reading) : undefined;
        if (coerced !== undefined) accepted[name] = coerced;
      } else {
        const refused = type.extensions[refusedNames] as ReadonlyMap<string, string> | undefined;
        const message = refused?.get(name) ?? unknownName(name, Object.keys(fields));
        yield { path: `${path}/${shortened(name)}`, message };
      }
    }
    for (const field of Object.values(fields))
      if (isRequiredInputField(field) && !members.has(field.name))
        yield { path: `${path}/${field.name}`, message: required(constantsOf(field.type)) };
    if (checksData && check) for (const problem of check(accepted)) yield { ...problem, path: path + problem.path };
  } else if (isLeafType(type)) {
    const message = leafProblem(type, value, reading);
    if (message !== undefined) yield { path, message };
  }
}

function constantsOf(type: GraphQLInputType): string[] {
  const value = isNonNullType(type) ? type.ofType : type;
  return isEnumType(value) ? value.getValues().map(({ name }) => name) : [];
}

/** Few fields are named: those of an order, for example. */
function objectExpectation(type: GraphQLInputObjectType): string {
  const names = Object.keys(type.getFields());
  const example = names.length <= 3 ? ` such as { ${names.map((name) => `${name}: …`).join(', ')} }` : '';
  return `${expectation('object')}${example}`;
}

/** The value of a leaf or of a list of leaves that their types accept; undefined for other types, and where variables are in it. */
function coercedLeaves<V>(type: GraphQLInputType, value: V, reading: Reading<V>): unknown {
  if (reading.isVariable(value)) return undefined;
  if (isNonNullType(type)) return coercedLeaves(type.ofType, value, reading);
  if (reading.isNull(value)) return null;
  if (isLeafType(type)) return reading.coerce(type, value);
  if (!isListType(type)) return undefined;
  const items = (reading.items(value) ?? [value]).map((item) => coercedLeaves(type.ofType, item, reading));
  return items.includes(undefined) ? undefined : items;
}

function leafProblem<V>(type: GraphQLLeafType, value: V, reading: Reading<V>): string | undefined {
  try {
    if (reading.coerce(type, value) !== undefined) return undefined;
  } catch {
    // The message of the type has other words.
  }
  const plain = reading.plain(value);
  const sent = found(plain);
  if (isEnumType(type)) {
    const names = type.getValues().map(({ name }) => name);
    // In a document, a value in quotes is a text.
    return typeof plain === 'string' && names.includes(plain)
      ? `must be written without quotes: ${plain}`
      : oneOf(names, plain) + sent;
  }
  return limitProblem(type.name, plain) ?? mismatch(schemaTypes[type.name] ?? type.name, plain);
}

/**
 * Problems of variables that their types do not accept. Paths start at the variable, or in it where it has the fields of a record or of
 * several: as in the errors of the data layer.
 * @param checksData whether what the data layer would say of the values is reported too
 */
function variableProblems(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  checksData = false,
): FieldProblem[] {
  const defined = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  const undefinedNames = Object.keys(variables).filter((name) => !defined.has(name));
  const missing = (name: string): string => {
    const near = didYouMean(name, undefinedNames);
    if (near !== undefined) return `is required; the operation has no variable "${near}"`;
    const sent =
      Object.keys(variables)
        .map((each) => shortened(each))
        .join(', ') || 'no values';
    return `is required: the operation has the variable $${name}, and "variables" has ${sent}`;
  };
  return variableDefinitions.flatMap(({ variable, type: typeNode, defaultValue }): FieldProblem[] => {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode);
    if (!type || !isInputType(type)) return [];
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined)
      return isNonNullType(type) && !defaultValue ? [{ path: `/${name}`, message: missing(name) }] : [];
    const problems = typeProblems(type, value, json, '', checksData).take(maxProblems).toArray();
    return holdsFields(type) && value !== null ? problems : under(name, problems);
  });
}

/** Whether a type has what is written, in one record or several; filters and orders are no such types. */
function holdsFields(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return isInputObjectType(named) && named.name.endsWith('Input');
}

/** The problems of a variable or an argument, with its name before their paths. */
function under(name: string, problems: readonly FieldProblem[]): FieldProblem[] {
  return problems.map(({ path, message }) => ({ path: `/${name}${path}`, message }));
}

/** The errors of an execution that did not begin, because its variables are not valid. */
export function requestErrors(
  { schema, document, operationName, variableValues }: ExecutionArgs,
  { errors = [] }: ExecutionResult,
): readonly GraphQLError[] {
  const operation = getOperationAST(document, operationName);
  const variables = variableValues ?? {};
  if (!operation || variableProblems(schema, operation, variables).length === 0) return errors;
  return [asGraphqlError(inputError(variableProblems(schema, operation, variables, true)))];
}

/** Replaces the rule of GraphQL about the values in a document by one that reports in the words of the REST API. */
export function valuesRule(context: ValidationContext): ASTVisitor {
  const check = (node: ValueNode, type: GraphQLInputType | null | undefined) => {
    if (type) {
      const inValue = problemsOf(type, node, literal);
      const name = context.getArgument()?.name;
      // As in variables: the fields of records are named without the argument.
      const isNamed = name !== undefined && !holdsFields(type);
      const problems = isNamed ? under(name, inValue) : inValue;
      if (problems.length > 0) {
        const originalError = inputError(problems);
        context.reportError(new GraphQLError(originalError.message, { nodes: node, originalError }));
      }
    }
    return false;
  };
  const visit = (node: ValueNode) => check(node, context.getInputType());
  return {
    NullValue: visit,
    ListValue: (node) => check(node, context.getParentInputType()),
    ObjectValue: visit,
    EnumValue: visit,
    IntValue: visit,
    FloatValue: visit,
    StringValue: visit,
    BooleanValue: visit,
  };
}
