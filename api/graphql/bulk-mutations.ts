import { GraphQLID, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import type { Refusal } from '#entities/kit/write/change-set.ts';
import { checkRowCount } from '#entities/kit/write/change-counters.ts';
import { checkNewAddresses } from '../http/check-new-addresses.ts';
import { requireProofFor, requireProofToDelete } from '../credentials/required-proof.ts';
import { askingOf, type GraphqlContext } from './graphql-context.ts';
import { csvCreations, csvFormat } from './csv.ts';
import { changing } from './known-targets.ts';
import type { FieldConfig, FieldMap } from './passthrough-field.ts';
import { storedValues } from './inputs.ts';
import type { MutationParts } from './mutations.ts';

/** The bulk mutations that a kind offers (`mutate`), by name. */
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
  description: 'A record that was not changed, and the reason.',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
    code: { type: new GraphQLNonNull(GraphQLString), description: 'Error code; /docs/errors lists all codes.' },
    message: { type: new GraphQLNonNull(GraphQLString), description: 'The reason, as text for people.' },
  },
});

const refusals = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(refusal)));

/** The created or changed records with the selected fields. */
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
      description: `Creates up to 1,000 ${module.typeName} records. Creates either all of them or none.`,
      args: { inputs: { type: inputs, description: 'One input for each record.' } },
      resolve: async (_source, args: { inputs: readonly RecordJson[] }, context) => {
        checkRowCount(args.inputs.length, '/inputs');
        const creations = args.inputs.map((input, index) => parts.inputs.creationOf(module, input, `/${index}`));
        await checkNewAddresses(context.services, creations);
        await requireProofFor(
          askingOf(context),
          creations.map(({ input }) => ({ module, values: input })),
        );
        const created = await context.unit.data.createAll(creations);
        return { createdIds: created.map(({ id }) => id) };
      },
    },
    [`createBulkCSV${module.typeName}`]: {
      type: payload,
      description: `Creates up to 1,000 ${module.typeName} records from CSV. Creates either all of them or none. ${csvFormat}`,
      args: { csv: { type: new GraphQLNonNull(GraphQLString), description: 'CSV document with a header line.' } },
      resolve: async (_source, { csv }: { csv: string }, context) => {
        const made = await csvCreations(module, csv, async (creations, known) => {
          await checkNewAddresses(context.services, creations);
          await requireProofFor(
            askingOf(context),
            creations.map(({ input }) => ({ module, values: input })),
          );
          return context.unit.data.createAll(creations, known);
        });
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
      updatedIds: { type: ids, description: 'Ids of the changed records.' },
      notUpdated: { type: refusals, description: 'Records that were not changed, with reasons.' },
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Applies the same change to up to 1,000 ${module.typeName} records. Records that the caller may not change are listed in notUpdated.`,
    args: {
      ids: { type: ids, description: 'Ids of the records to change.' },
      input: { type: new GraphQLNonNull(parts.inputs.change(module)), description: 'The change.' },
    },
    extensions: changing((args) => ({
      module,
      ids: args.ids,
      operation: 'edit',
      values: storedValues(module, args.input),
    })),
    resolve: async (_source, args: { ids: readonly string[]; input: RecordJson }, context) => {
      const values = storedValues(module, args.input);
      await requireProofFor(askingOf(context), [{ module, values }]);
      const { changed, refused } = await context.unit.data.updateAll(module, args.ids, values);
      return { updatedIds: changed, notUpdated: refused };
    },
  };
}

function deleteField(module: EntityModule): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `DeleteBulk${module.typeName}Payload`,
    fields: {
      deletedIds: { type: ids, description: 'Ids of the deleted records.' },
      notDeleted: { type: refusals, description: 'Records that were not deleted, with reasons.' },
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Deletes up to 1,000 ${module.typeName} records together with their dependent records. Records that the caller may not delete are listed in notDeleted.`,
    args: { ids: { type: ids, description: 'Ids of the records to delete.' } },
    extensions: changing((args) => ({ module, ids: args.ids, operation: 'remove', values: {} })),
    resolve: async (_source, args: { ids: readonly string[] }, context) => {
      await requireProofToDelete(askingOf(context), module);
      const { changed, refused } = await context.unit.data.removeAll(module, args.ids);
      return { deletedIds: changed, notDeleted: refused };
    },
  };
}
