import type { GraphQLFieldConfig, GraphQLFieldConfigMap } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { GraphqlContext } from './graphql-context.ts';

/** Fields of our schema: their source is what one statement answered. */
export type FieldConfig = GraphQLFieldConfig<RecordJson, GraphqlContext>;
export type FieldMap = GraphQLFieldConfigMap<RecordJson, GraphqlContext>;

/** A field whose value came with the record above it, under the name it has in the answer. */
export function passthroughField(type: FieldConfig['type'], description?: string): FieldConfig {
  return {
    type,
    ...(description === undefined ? {} : { description }),
    resolve: (source, _args, _context, info) => source[info.path.key],
  };
}
