import type { GraphQLField, GraphQLSchema } from 'graphql';
import { inWordsCapitalized } from '#entities/kit/base/snake-case.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { KindOperation } from '../http/description/kind-operation.ts';
import { isBeyondOrganizations, isForSessions } from './guarded-fields.ts';
import type { FieldConfig } from './passthrough-field.ts';

/** Marks a root field as one of a kind. */
export function ofKind({ table }: Pick<EntityModule, 'table'>, config: FieldConfig): FieldConfig {
  return withTag(inWordsCapitalized(table), config);
}

/** Marks a root field with the tag that it has in the reference of REST. */
export function withTag(tag: string, config: FieldConfig): FieldConfig {
  return { ...config, extensions: { ...config.extensions, tag } };
}

/** The root fields of a schema that have a tag. */
export function kindOperations(schema: GraphQLSchema): readonly KindOperation[] {
  const operations = (on: KindOperation['on'], fields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {}) =>
    Object.values(fields).flatMap(({ name, args, extensions, deprecationReason }): KindOperation[] => {
      const { tag } = extensions;
      if (typeof tag !== 'string') return [];
      const types = Object.fromEntries(args.map((argument) => [argument.name, String(argument.type)]));
      return [
        {
          tag,
          on,
          name,
          arguments: types,
          deprecated: typeof deprecationReason === 'string',
          acceptsTokens: !isForSessions(extensions),
          acceptsSingleSignOn: !isBeyondOrganizations(extensions),
        },
      ];
    });
  return [
    ...operations('query', schema.getQueryType()?.getFields()),
    ...operations('mutation', schema.getMutationType()?.getFields()),
  ];
}
