import { GraphQLID, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import type { Refusal } from '#entities/kit/write/change-set.ts';
import { checkRowCount } from '#entities/kit/write/change-counters.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { csvCreations, csvFormat } from './csv.ts';
import type { FieldConfig, FieldMap } from './passthrough-field.ts';
import { storedValues } from './inputs.ts';
import type { MutationParts } from './mutations.ts';

/** The mutations of many records that a kind offers (`mutate`), by name. */
export function bulkMutationsOf(module: EntityModule, parts: MutationParts): FieldMap {
  const offered = module.mutate ?? [];
  return {
    ...(offered.includes('create') ? createFields(module, parts) : {}),
    ...(offered.includes('update') ? { [`updateBulk${module.typeName}`]: updateField(module, parts) } : {}),
    ...(offered.includes('delete') ? { [`deleteBulk${module.typeName}`]: deleteField(module) } : {}),
  };
}

const ids = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID)));

const refusal = new GraphQLObjectType<Refusal, GraphqlContext>({
  name: 'Refusal',
  description: 'A record that was left as it is, and why.',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLID) },
    code: { type: new GraphQLNonNull(GraphQLString), description: 'Code of the catalogue of errors.' },
    message: { type: new GraphQLNonNull(GraphQLString) },
  },
});

const refusals = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(refusal)));

/** Records that were made or changed, read as they were selected. */
function recordsField(module: EntityModule, parts: MutationParts, idsName: string): FieldConfig {
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(parts.objectOf(module)))),
    resolve: (source, _args, context, info) =>
      parts.readAll(module, source[idsName] as readonly string[], context, info),
  };
}

function createFields(module: EntityModule, parts: MutationParts): FieldMap {
  const plural = pluralOf(module);
  const payload = new GraphQLNonNull(
    new GraphQLObjectType<RecordJson, GraphqlContext>({
      name: `CreateBulk${module.typeName}Payload`,
      fields: { [plural]: recordsField(module, parts, 'createdIds') },
    }),
  );
  const inputs = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(parts.inputs.creation(module))));
  return {
    [`createBulk${module.typeName}`]: {
      type: payload,
      description: `Creates ${module.typeName} records, all or none; a thousand at the most.`,
      args: { inputs: { type: inputs } },
      resolve: async (_source, args: { inputs: readonly RecordJson[] }, { unit }) => {
        checkRowCount(args.inputs.length, '/inputs');
        const creations = args.inputs.map((input, place) => parts.inputs.creationOf(module, input, `/${place}`));
        const made = await unit.data.createAll(creations);
        return { createdIds: made.map(({ id }) => id) };
      },
    },
    [`createBulkCSV${module.typeName}`]: {
      type: payload,
      description: `Creates ${module.typeName} records from CSV, all or none; a thousand at the most. ${csvFormat}`,
      args: { csv: { type: new GraphQLNonNull(GraphQLString) } },
      resolve: async (_source, { csv }: { csv: string }, { unit }) => {
        const made = await csvCreations(module, csv, (creations) => unit.data.createAll(creations));
        return { createdIds: made.map(({ id }) => id) };
      },
    },
  };
}

function updateField(module: EntityModule, parts: MutationParts): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `UpdateBulk${module.typeName}Payload`,
    fields: {
      [pluralOf(module)]: recordsField(module, parts, 'updatedIds'),
      updatedIds: { type: ids },
      notUpdated: { type: refusals },
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Changes ${module.typeName} records alike, those that the caller may change; a thousand at the most.`,
    args: { ids: { type: ids }, input: { type: new GraphQLNonNull(parts.inputs.change(module)) } },
    resolve: async (_source, args: { ids: readonly string[]; input: RecordJson }, { unit }) => {
      const values = storedValues(module, args.input);
      const { changed, refused } = await unit.data.updateAll(module, args.ids, values);
      return { updatedIds: changed, notUpdated: refused };
    },
  };
}

function deleteField(module: EntityModule): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `DeleteBulk${module.typeName}Payload`,
    fields: { deletedIds: { type: ids }, notDeleted: { type: refusals } },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Deletes ${module.typeName} records with what hangs on them, those that the caller may delete; a thousand at the most.`,
    args: { ids: { type: ids } },
    resolve: async (_source, args: { ids: readonly string[] }, { unit }) => {
      const { changed, refused } = await unit.data.removeAll(module, args.ids);
      return { deletedIds: changed, notDeleted: refused };
    },
  };
}
