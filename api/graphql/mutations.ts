import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, GraphQLObjectType, type GraphQLInputType } from 'graphql';
import type { Answer } from '#entities/kit/data-client.ts';
import type { EntityModule } from '#entities/kit/define.ts';
import { AppError } from '#entities/kit/errors.ts';
import { isId } from '#entities/kit/ids.ts';
import { storedWords } from './choice-words.ts';
import type { GraphqlContext } from './context.ts';
import type { Types } from './hand-written-field.ts';
import type { FieldConfig, FieldMap } from './handed-on.ts';

/** What derived mutations need of the schema that is being made. */
export interface MutationParts extends Types {
  /** Type of a field's values, as they are given. */
  valueType(module: EntityModule, field: string): GraphQLInputType;
}

/** The mutations a kind offers (`mutate`), by name. */
export function mutationsOf(module: EntityModule, parts: MutationParts): FieldMap {
  const offered = module.mutate ?? [];
  return {
    ...(offered.includes('update') ? { [`update${module.typeName}`]: updateField(module, parts) } : {}),
    ...(offered.includes('delete') ? { [`delete${module.typeName}`]: deleteField(module) } : {}),
  };
}

function updateField(module: EntityModule, parts: MutationParts): FieldConfig {
  const changeable = Object.entries(module.expose).filter(
    ([name, exposure]) => exposure !== 'read' && module.fields[name] && !module.fields[name].immutable,
  );
  const input = new GraphQLInputObjectType({
    name: `Update${module.typeName}Input`,
    description: 'What is left out stays as it is; null empties an optional field.',
    fields: Object.fromEntries(
      changeable.map(([name]) => [
        name,
        { type: parts.valueType(module, name), description: module.fields[name]?.description },
      ]),
    ),
  });
  const payload = new GraphQLObjectType<Answer, GraphqlContext>({
    name: `Update${module.typeName}Payload`,
    fields: {
      [module.kind]: {
        type: new GraphQLNonNull(parts.objectOf(module)),
        resolve: (source, _args, context, info) => parts.read(module, source['id'] as string, context, info),
      },
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Changes one ${module.typeName}.`,
    args: { id: { type: new GraphQLNonNull(GraphQLID) }, input: { type: new GraphQLNonNull(input) } },
    resolve: async (_source, args: { id: string; input: Answer }, { unit }) => {
      const id = existingId(module, args.id);
      await unit.data.update(module, id, stored(module, args.input));
      return { id };
    },
  };
}

function deleteField(module: EntityModule): FieldConfig {
  const payload = new GraphQLObjectType<Answer, GraphqlContext>({
    name: `Delete${module.typeName}Payload`,
    fields: { deletedId: { type: new GraphQLNonNull(GraphQLID) } },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Deletes one ${module.typeName} with everything that hangs on it.`,
    args: { id: { type: new GraphQLNonNull(GraphQLID) } },
    resolve: async (_source, args: { id: string }, { unit }) => {
      const deletedId = existingId(module, args.id);
      await unit.data.remove(module, deletedId);
      return { deletedId };
    },
  };
}

/** What is no id is the id of nothing; the database need not be asked, or given what it cannot read. */
export function existingId(module: EntityModule, id: string): string {
  if (isId(id)) return id;
  throw new AppError('not_found', `There is no ${module.typeName} "${String(id)}".`);
}

function stored(module: EntityModule, input: Answer): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      module.fields[name]?.type === 'choice' ? storedWords(value) : value,
    ]),
  );
}
