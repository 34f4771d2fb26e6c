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
import { usualSize } from '../http/page-slice.ts';
import { passthroughField } from './passthrough-field.ts';

/** Types of lists (Relay connections) and of what they may be asked for; each type is made once. */
export class PageTypes {
  readonly #connections = new Map<string, GraphQLObjectType>();
  readonly #orders = new Map<string, GraphQLInputObjectType>();
  readonly #direction = new GraphQLEnumType({
    name: 'OrderDirection',
    values: { ASC: { value: 'asc' }, DESC: { value: 'desc' } },
  });
  readonly #pageInfo = new GraphQLObjectType({
    name: 'PageInfo',
    description: 'Where a page of a connection stands.',
    fields: {
      hasNextPage: passthroughField(new GraphQLNonNull(GraphQLBoolean)),
      hasPreviousPage: passthroughField(new GraphQLNonNull(GraphQLBoolean)),
      startCursor: passthroughField(GraphQLString),
      endCursor: passthroughField(GraphQLString),
    },
  });

  connection(module: EntityModule, object: GraphQLObjectType): GraphQLObjectType {
    const made = this.#connections.get(module.kind);
    if (made) return made;
    const edge = new GraphQLObjectType({
      name: `${module.typeName}Edge`,
      fields: {
        cursor: passthroughField(new GraphQLNonNull(GraphQLString)),
        node: passthroughField(new GraphQLNonNull(object)),
      },
    });
    const type = new GraphQLObjectType({
      name: `${module.typeName}Connection`,
      description: `A page of ${module.typeName} records.`,
      fields: {
        edges: passthroughField(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(edge)))),
        pageInfo: passthroughField(new GraphQLNonNull(this.#pageInfo)),
        totalCount: passthroughField(
          new GraphQLNonNull(GraphQLInt),
          'All that match, not only those of the page; counted when asked for.',
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
        description: `So many from the beginning; ${usualSize} when neither first nor last is given.`,
      },
      last: { type: GraphQLInt, description: 'So many from the end.' },
      after: { type: GraphQLString, description: 'Cursor after which the page begins.' },
      before: { type: GraphQLString, description: 'Cursor before which the page ends.' },
      where: { type: where },
      orderBy: {
        type: new GraphQLList(new GraphQLNonNull(this.#order(module))),
        description: 'First by the first term; records that are equal in all terms stand in the order of their ids.',
      },
    };
  }

  #order(module: EntityModule): GraphQLInputObjectType {
    const made = this.#orders.get(module.kind);
    if (made) return made;
    const names = orderableFields(module);
    const field = new GraphQLEnumType({
      name: `${module.typeName}OrderField`,
      values: Object.fromEntries(names.map((name) => [constantCase(name), { value: name }])),
    });
    const type = new GraphQLInputObjectType({
      name: `${module.typeName}Order`,
      fields: {
        field: { type: new GraphQLNonNull(field) },
        direction: { type: new GraphQLNonNull(this.#direction), defaultValue: 'asc' },
      },
    });
    this.#orders.set(module.kind, type);
    return type;
  }
}

function constantCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}
