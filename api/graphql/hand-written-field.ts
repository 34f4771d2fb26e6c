import type { GraphQLLeafType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { FieldConfig } from './passthrough-field.ts';

/** A field that does not follow from the kinds: that of an action, or one written by hand in api/graphql/fields. */
export interface HandWrittenField {
  readonly on: 'Query' | 'Mutation';
  readonly name: string;
  /** Tag of the action in the reference of REST. */
  readonly tag?: string;
  /** API tokens, personal tokens, and whoever acts as somebody else may use the field; others need a person who is signed in. */
  readonly acceptsTokens?: true;
  /** Sessions of an organization's single sign-on may use the field, because it does nothing beyond the organization. */
  readonly acceptsSingleSignOn?: true;
  /** The answer has a credential: an operation with the field is never kept, and refuses the header `Idempotency-Key`. */
  readonly answersCredential?: true;
  /** The field has effects outside of the unit of work: it is the only one of its operation, which refuses the header `Idempotency-Key`. */
  readonly runsOnce?: true;
  build(types: Types): FieldConfig;
}

/** Parts of the derived schema that hand-written fields use: its object types, and records with the selected fields. */
export interface Types {
  readonly registry: Registry;
  objectOf(module: EntityModule): GraphQLObjectType;
  /** The type of the values of a field. */
  valueType(module: EntityModule, name: string): GraphQLLeafType | GraphQLList<GraphQLNonNull<GraphQLLeafType>>;
  /** @throws AppError not_found */
  read(module: EntityModule, id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<RecordJson>;
  /** The records that the caller can view, in the order of the ids. */
  readAll(
    module: EntityModule,
    ids: readonly string[],
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<readonly RecordJson[]>;
}
