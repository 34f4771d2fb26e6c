import type { GraphQLFieldConfig, GraphQLFieldConfigMap } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { GraphqlContext } from './graphql-context.ts';

/** Fields of the schema; their source is a record as the statement returned it. */
export type FieldConfig = GraphQLFieldConfig<RecordJson, GraphqlContext>;
export type FieldMap = GraphQLFieldConfigMap<RecordJson, GraphqlContext>;

/** A field whose value is already part of its parent, under the name that the field has in the answer. */
export function passthroughField(type: FieldConfig['type'], description?: string): FieldConfig {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    resolve: (source, _args, _context, info) => source[info.path.key],
  };
}
