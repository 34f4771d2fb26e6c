import type { FastifyRequest } from 'fastify';
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLLeafType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from 'graphql';
import { Type, type TProperties, type TSchema } from 'typebox';
import { idPattern } from '#entities/kit/base/ids.ts';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { graphqlKeyword, takesNull, type GraphqlTypeName } from '../../actions/kit/action-parts.ts';
import {
  flagsOf,
  holdersOf,
  inputOf,
  isList,
  partsOf,
  type Action,
  type RecordPart,
} from '../../actions/kit/define-action.ts';
import { heldFields } from './held-field.ts';
import { runAction } from '../../actions/kit/run-action.ts';
import type { Deprecation } from '../../http/deprecation.ts';
import { asAppError } from '../../http/response/problem.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField, Types } from '../hand-written-field.ts';
import { DateTime } from '../scalars/date-time.ts';
import { Json } from '../scalars/json.ts';

/** The query or the mutation of an action. */
export function actionField(action: Action): HandWrittenField {
  const { definition } = action;
  const { name, tag, method, description, deprecated, input = {} } = definition;
  const { others } = inputOf(definition);
  const checked = Type.Object(others, { additionalProperties: false, ...definition.inputSize });
  return {
    on: method === 'GET' ? 'Query' : 'Mutation',
    name,
    tag,
    ...flagsOf(definition),
    build: (types) => ({
      type: answerType(types, definition),
      description,
      ...(deprecated ? { deprecationReason: deprecationReason(deprecated) } : {}),
      args: argumentsOf(types, definition),
      resolve: (_source, { input: grouped, ...named }, context) => {
        const given = { ...named, ...(grouped as object | undefined) };
        check(checked, valuesOf(others, given), context.fastify.request);
        return runAction(action, askingOf(context), valuesOf(input, given));
      },
    }),
  };
}

type Definition = Action['definition'];

function argumentsOf(types: Types, definition: Definition): GraphQLInputFieldConfigMap {
  const { name, input = {} } = definition;
  const fields = (of: TProperties): GraphQLInputFieldConfigMap =>
    Object.fromEntries(
      Object.entries(of).map(([each, schema]) => {
        const type = typeOf(types, schema) as GraphQLLeafType;
        const isRequired = !Type.IsOptional(schema) && !takesNull(schema);
        return [each, { type: isRequired ? new GraphQLNonNull(type) : type, ...describedBy(schema) }];
      }),
    );
  // As the derived mutations.
  if (!/^(?:create|update)[A-Z]/.test(name)) return fields(input);
  const { inPath, others } = inputOf(definition);
  const type = new GraphQLInputObjectType({ name: `${capitalized(name)}Input`, fields: fields(others) });
  return { ...fields(inPath), input: { type: new GraphQLNonNull(type) } };
}

/** Values by the schemas that REST has, too: instants as texts, words as they are stored; null stands for none where it is no value. */
function valuesOf(schemas: TProperties, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const value = given[name];
      if (value === undefined || (value === null && !takesNull(schema))) return [];
      if (value instanceof Date) return [[name, value.toISOString()]];
      return [[name, isChoice(schema) && typeof value === 'string' ? value.toLowerCase() : value]];
    }),
  );
}

/** Enums of fields have no values of their own. */
function isChoice(schema: TSchema): boolean {
  const named = nameIn(schema);
  return named?.is === 'field' && named.module.fields[named.field]?.type === 'choice';
}

/** @throws AppError invalid_input, in the words of REST */
function check(schema: TSchema, input: unknown, request: FastifyRequest): void {
  const validate = request.getValidationFunction(schema) ?? request.compileValidationSchema(schema);
  if (!validate(input)) throw asAppError({ validation: validate.errors });
}

function answerType(types: Types, definition: Definition): GraphQLOutputType {
  const { name, method, answer, title } = definition;
  if (isList(answer)) return new GraphQLNonNull(listType(typeOf(types, answer.item)));
  const { records, values } = partsOf(answer);
  const holders = holdersOf(definition);
  const fields: [string, ResultField][] = [
    ...records.map((record) => [record.name, recordField(types, record.name, record)] as [string, ResultField]),
    ...Object.entries(values).map(
      ([field, schema]) => [field, valueField(types, field, schema)] as [string, ResultField],
    ),
    ...holders
      .slice(0, 1)
      .flatMap(({ module }) =>
        Object.entries(heldFields(module, types, (source) => holders.map(({ name: held }) => source[held] as string))),
      ),
  ];
  const typeName = method === 'GET' ? (title ?? capitalized(name)) : `${capitalized(name)}Payload`;
  return new GraphQLNonNull(new GraphQLObjectType({ name: typeName, fields: Object.fromEntries(fields) }));
}

type Result = Readonly<Record<string, unknown>>;
type ResultField = GraphQLFieldConfig<Result, GraphqlContext>;

function recordField(types: Types, field: string, { module, description }: RecordPart): ResultField {
  return {
    type: new GraphQLNonNull(types.objectOf(module)),
    ...(description === undefined ? {} : { description }),
    resolve: (source, _args, context, info) => types.read(module, source[field] as string, context, info),
  };
}

function valueField(types: Types, field: string, schema: TSchema): ResultField {
  const type = typeOf(types, schema);
  return {
    type: takesNull(schema) || Type.IsOptional(schema) ? type : new GraphQLNonNull(type),
    ...describedBy(schema),
    resolve: (source) => {
      const value = source[field];
      return value instanceof Date ? value.toISOString() : value;
    },
  };
}

interface SchemaParts {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: TProperties;
  readonly [describedKeyword]?: { readonly pattern?: string };
  readonly [graphqlKeyword]?: GraphqlTypeName;
}

const nameIn = (schema: TSchema) => (schema as SchemaParts)[graphqlKeyword];

function describedBy({ description }: SchemaParts): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

const listType = (item: ValueType) => new GraphQLList(new GraphQLNonNull(item as ItemType));

type ItemType = GraphQLLeafType | GraphQLObjectType;
type ValueType = ItemType | GraphQLList<GraphQLNonNull<ItemType>>;

/** The type of a value that is not null, by its schema. */
function typeOf(types: Types, schema: TSchema): ValueType {
  const { type, format, anyOf, items, title = '', properties, ...parts }: SchemaParts = schema;
  const named = parts[graphqlKeyword];
  if (named?.is === 'field') return types.valueType(named.module, named.field);
  if (named?.is === 'enum') return madeOnce(types, named.name, () => enumOf(named));
  const value = anyOf?.find((one) => (one as SchemaParts).type !== 'null');
  if (value) return typeOf(types, value);
  if (items) return listType(typeOf(types, items));
  if (properties)
    return madeOnce(types, title, () => {
      const fields = Object.entries(properties).map(([name, part]) => [name, valueField(types, name, part)]);
      return new GraphQLObjectType({ name: title, ...describedBy(parts), fields: Object.fromEntries(fields) });
    });
  if (named?.is === 'id' || parts[describedKeyword]?.pattern === idPattern.source) return GraphQLID;
  if (format === 'date-time') return DateTime;
  return scalars[[type].flat().find((one) => one !== 'null') ?? ''] ?? Json;
}

const scalars: Readonly<Record<string, GraphQLScalarType>> = {
  string: GraphQLString,
  integer: GraphQLInt,
  boolean: GraphQLBoolean,
};

function enumOf({ name, description, values }: GraphqlTypeName & { readonly is: 'enum' }): GraphQLEnumType {
  const described = Object.entries(values).map(([value, text]) => [
    value.toUpperCase(),
    { value, ...(text === undefined ? {} : { description: text }) },
  ]);
  return new GraphQLEnumType({ name, description, values: Object.fromEntries(described) });
}

const madeTypes = new WeakMap<Types, Map<string, ItemType>>();

/** A type that several fields of one schema have. */
function madeOnce(types: Types, name: string, make: () => ItemType): ItemType {
  const made = madeTypes.get(types) ?? new Map<string, ItemType>();
  madeTypes.set(types, made);
  const type = made.get(name) ?? make();
  made.set(name, type);
  return type;
}

function deprecationReason({ since, sunset, successor }: Deprecation): string {
  return [
    `Deprecated since ${since}.`,
    ...(sunset === undefined ? [] : [`It may be missing from ${sunset} on.`]),
    ...(successor === undefined ? [] : [`Use ${successor}.`]),
  ].join(' ');
}
