import type { GraphQLField, GraphQLSchema } from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { KindOperation } from '../http/description/kind-operation.ts';
import { isForSessions } from './guarded-fields.ts';
import type { FieldConfig } from './passthrough-field.ts';

/** Marks a root field as one of a kind. */
export function ofKind({ kind }: EntityModule, config: FieldConfig): FieldConfig {
  return { ...config, extensions: { ...config.extensions, kind } };
}

/** The root fields of a schema that belong to a kind (`ofKind`). */
export function kindOperations(schema: GraphQLSchema): readonly KindOperation[] {
  const operations = (on: KindOperation['on'], fields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {}) =>
    Object.values(fields).flatMap(({ name, args, extensions }): KindOperation[] => {
      const { kind } = extensions;
      if (typeof kind !== 'string') return [];
      const types = Object.fromEntries(args.map((argument) => [argument.name, String(argument.type)]));
      return [{ kind, on, name, arguments: types, acceptsTokens: !isForSessions(extensions) }];
    });
  return [
    ...operations('query', schema.getQueryType()?.getFields()),
    ...operations('mutation', schema.getMutationType()?.getFields()),
  ];
}
