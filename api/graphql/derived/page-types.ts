import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputType,
} from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { orderableFields } from '#entities/kit/read/where.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import { constantCase } from './constant-case.ts';
import { passthroughField } from '../passthrough-field.ts';

/** Types of lists (Relay connections) and of their arguments. Each type is created once. */
export class PageTypes {
  readonly #connections = new Map<string, GraphQLObjectType>();
  readonly #orders = new Map<string, GraphQLInputObjectType>();
  readonly #direction = new GraphQLEnumType({
    name: 'OrderDirection',
    description: 'Sort direction.',
    values: { ASC: { value: 'asc' }, DESC: { value: 'desc' } },
  });
  readonly #pageInfo = new GraphQLObjectType({
    name: 'PageInfo',
    description: 'Position of a page within its list.',
    fields: {
      hasNextPage: passthroughField(new GraphQLNonNull(GraphQLBoolean), 'Whether records follow this page.'),
      hasPreviousPage: passthroughField(new GraphQLNonNull(GraphQLBoolean), 'Whether records precede this page.'),
      startCursor: passthroughField(GraphQLString, 'Cursor of the first record of the page.'),
      endCursor: passthroughField(GraphQLString, 'Cursor of the last record of the page.'),
    },
  });

  connection(module: EntityModule, object: GraphQLObjectType): GraphQLObjectType {
    const made = this.#connections.get(module.kind);
    if (made) return made;
    const edge = new GraphQLObjectType({
      name: `${module.typeName}Edge`,
      description: `One entry of a list of ${module.typeName} records: the record and its cursor.`,
      fields: {
        cursor: passthroughField(new GraphQLNonNull(GraphQLString), 'Position in the list, for after and before.'),
        node: passthroughField(new GraphQLNonNull(object), 'The record.'),
      },
    });
    const type = new GraphQLObjectType({
      name: `${module.typeName}Connection`,
      description: `A page of ${module.typeName} records.`,
      fields: {
        edges: passthroughField(
          new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge))),
          'Records of the page with their cursors.',
        ),
        pageInfo: passthroughField(new GraphQLNonNull(this.#pageInfo), 'Position of the page.'),
        totalCount: passthroughField(
          new GraphQLNonNull(GraphQLInt),
          'Number of all matching records, not only those of the page. Counted only when selected; costs as much as a list of the largest page size.',
        ),
      },
    });
    this.#connections.set(module.kind, type);
    return type;
  }

  arguments(module: EntityModule, where: GraphQLInputType): GraphQLFieldConfigArgumentMap {
    return {
      first: {
        type: GraphQLInt,
        description: `Number of records from the start of the list. Without first and last: ${defaultPageSize}.`,
      },
      last: { type: GraphQLInt, description: 'Number of records from the end of the list.' },
      after: { type: GraphQLString, description: 'Only records after this cursor.' },
      before: { type: GraphQLString, description: 'Only records before this cursor.' },
      where: { type: where, description: 'Filter.' },
      orderBy: {
        type: new GraphQLList(new GraphQLNonNull(this.#order(module))),
        description: 'Sort order, most significant term first. Records with equal values are sorted by id.',
      },
    };
  }

  #order(module: EntityModule): GraphQLInputObjectType {
    const made = this.#orders.get(module.kind);
    if (made) return made;
    const names = orderableFields(module);
    const field = new GraphQLEnumType({
      name: `${module.typeName}OrderField`,
      description: `Fields by which ${module.typeName} records can be sorted.`,
      values: Object.fromEntries(names.map((name) => [constantCase(name), { value: name }])),
    });
    const type = new GraphQLInputObjectType({
      name: `${module.typeName}Order`,
      description: `One term of the sort order of ${module.typeName} records.`,
      fields: {
        field: { type: new GraphQLNonNull(field), description: 'Field to sort by.' },
        direction: { type: new GraphQLNonNull(this.#direction), defaultValue: 'asc', description: 'Sort direction.' },
      },
    });
    this.#orders.set(module.kind, type);
    return type;
  }
}
