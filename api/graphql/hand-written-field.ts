import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { FieldConfig } from './passthrough-field.ts';

/** A hand-written field: the one way to add what cannot be derived (api/graphql/fields, one per file). */
export interface HandWrittenField {
  readonly on: 'Query' | 'Mutation';
  readonly name: string;
  build(types: Types): FieldConfig;
}

/** What hand-written fields answer with: derived object types, and records read as they were selected. */
export interface Types {
  readonly registry: Registry;
  objectOf(module: EntityModule): GraphQLObjectType;
  /** @throws AppError not_found */
  read(module: EntityModule, id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<RecordJson>;
  /** Those of them that the caller may see, in this order. */
  readAll(
    module: EntityModule,
    ids: readonly string[],
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<readonly RecordJson[]>;
}
