import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLNullableOutputType,
  type GraphQLOutputType,
} from 'graphql';
import type { EntityModule } from '#entities/kit/define.ts';
import { AppError } from '#entities/kit/errors.ts';
import type { Field } from '#entities/kit/fields.ts';
import { isId } from '#entities/kit/ids.ts';
import type { GraphqlContext } from './context.ts';
import { DateTime } from './date-time.ts';

type Source = Record<string, unknown>;
type FieldConfig = GraphQLFieldConfig<Source, GraphqlContext>;
type FieldMap = GraphQLFieldConfigMap<Source, GraphqlContext>;

/** A hand-written field: the one way to add what cannot be derived (api/graphql/fields, one per file). */
export interface HandWrittenField {
  readonly on: 'Query' | 'Mutation';
  readonly name: string;
  build(types: Types): FieldConfig;
}

/** Derived object types, for hand-written fields to refer to. */
export interface Types {
  objectOf(module: EntityModule): GraphQLObjectType;
}

/** Page size when none is asked for, and the most that can be (configuration `server.maxresultlimit`). */
const defaultPage = 25;

/**
 * The schema, derived from the entity modules: an object type for each kind that exposes something, a list and a look-up
 * by id, and the hand-written fields.
 */
export function deriveSchema(
  modules: readonly EntityModule[],
  handWritten: readonly HandWrittenField[],
): GraphQLSchema {
  const exposed = modules.filter((module) => Object.keys(module.expose).length > 0);
  const objects = new Map(exposed.map((module) => [module.kind, objectType(module)]));
  const types: Types = { objectOf: (module) => objects.get(module.kind) as GraphQLObjectType };
  const roots: Record<HandWrittenField['on'], FieldMap> = { Query: {}, Mutation: {} };
  const pageInfo = pageInfoType();
  for (const module of exposed) {
    const object = types.objectOf(module);
    roots.Query[plural(module)] = listField(module, connectionType(module, object, pageInfo));
    roots.Query[module.kind] = lookUpField(module, object);
  }
  for (const field of handWritten) {
    const config = field.build(types);
    roots[field.on][field.name] = field.on === 'Mutation' ? flushed(config) : config;
  }
  return new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: roots.Query }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields: roots.Mutation }),
  });
}

/** Sends what a mutation changed before the next one begins, so that a conflict is reported by the field it belongs to. */
function flushed(config: FieldConfig): FieldConfig {
  const { resolve } = config;
  return {
    ...config,
    resolve: async (source, args, context, info) => {
      const result: unknown = await resolve?.(source, args, context, info);
      await context.unit.flush();
      return result;
    },
  };
}

function plural(module: EntityModule): string {
  return module.table.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function objectType(module: EntityModule): GraphQLObjectType {
  const fields: FieldMap = {
    id: { type: new GraphQLNonNull(GraphQLID) },
    createdAt: { type: new GraphQLNonNull(DateTime) },
    updatedAt: { type: new GraphQLNonNull(DateTime) },
  };
  for (const [name, exposure] of Object.entries(module.expose)) {
    const field = module.fields[name];
    if (field && exposure !== 'write')
      fields[name] = { type: outputType(module, name, field), description: field.description };
  }
  return new GraphQLObjectType({ name: module.typeName, description: module.description, fields });
}

function outputType(module: EntityModule, name: string, field: Field): GraphQLOutputType {
  const type = namedType(module, name, field);
  return field.optional ? type : new GraphQLNonNull(type);
}

function namedType(module: EntityModule, name: string, field: Field): GraphQLNullableOutputType {
  switch (field.type) {
    case 'choice':
      return new GraphQLEnumType({
        name: `${module.typeName}${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
        description: field.description,
        values: Object.fromEntries((field.values ?? []).map((value) => [value.toUpperCase(), { value }])),
      });
    case 'integer':
      return GraphQLInt;
    case 'boolean':
      return GraphQLBoolean;
    case 'timestamp':
      return DateTime;
    case 'reference':
      return GraphQLID;
    case 'text':
    case 'json':
      return GraphQLString;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

function pageInfoType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'PageInfo',
    description: 'Where a page of a connection stands.',
    fields: {
      hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean) },
      endCursor: { type: GraphQLString },
    },
  });
}

function connectionType(
  module: EntityModule,
  object: GraphQLObjectType,
  pageInfo: GraphQLObjectType,
): GraphQLObjectType {
  const edge = new GraphQLObjectType({
    name: `${module.typeName}Edge`,
    fields: { cursor: { type: new GraphQLNonNull(GraphQLString) }, node: { type: new GraphQLNonNull(object) } },
  });
  return new GraphQLObjectType({
    name: `${module.typeName}Connection`,
    description: `A page of ${module.typeName} records, oldest first.`,
    fields: {
      edges: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))) },
      pageInfo: { type: new GraphQLNonNull(pageInfo) },
    },
  });
}

function listField(module: EntityModule, type: GraphQLObjectType): FieldConfig {
  return {
    type: new GraphQLNonNull(type),
    description: `${module.description} All that the caller may see.`,
    args: {
      first: { type: GraphQLInt, description: `Records of the page; ${defaultPage} when left out.` },
      after: { type: GraphQLString, description: 'Cursor after which the page begins.' },
    },
    resolve: async (_source, args: { first?: number | null; after?: string | null }, { services, unit }) => {
      const most = services.config.current.server.maxresultlimit;
      const first = args.first ?? Math.min(defaultPage, most);
      if (first < 0 || first > most)
        throw new AppError('limit_exceeded', `first must be between 0 and ${most}; it is ${first}.`);
      const rows: Source[] = await unit.data.find(module, {
        ...(args.after == null ? {} : { where: { id: { gt: decodeCursor(module, args.after) } } }),
        limit: first + 1,
      });
      const page = rows.slice(0, first);
      const edges = page.map((node) => ({ cursor: encodeCursor(module, node['id'] as string), node }));
      return { edges, pageInfo: { hasNextPage: rows.length > first, endCursor: edges.at(-1)?.cursor ?? null } };
    },
  };
}

function lookUpField(module: EntityModule, type: GraphQLObjectType): FieldConfig {
  return {
    type: new GraphQLNonNull(type),
    description: `One ${module.typeName} by id.`,
    args: { id: { type: new GraphQLNonNull(GraphQLID) } },
    resolve: (_source, { id }: { id: string }, { unit }) => {
      // What is no id is the id of nothing; the database need not be asked, or given what it cannot read.
      if (isId(id)) return unit.data.get(module, id);
      throw new AppError('not_found', `There is no ${module.typeName} "${String(id)}".`);
    },
  };
}

function encodeCursor(module: EntityModule, id: string): string {
  return Buffer.from(`${module.kind}:${id}`).toString('base64url');
}

function decodeCursor(module: EntityModule, cursor: string): string {
  const [kind, id, ...rest] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (kind === module.kind && rest.length === 0 && isId(id)) return id;
  throw new AppError('invalid_cursor', 'after is not a cursor of this list; use one that a page of it returned.');
}
