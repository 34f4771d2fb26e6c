import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import type { Refusal } from '#entities/kit/write/change-set.ts';
import type { RefusedInput } from '#entities/kit/write/create-each.ts';
import type { Creation } from '#entities/kit/write/creations.ts';
import { checkRowCount } from '#entities/kit/write/change-counters.ts';
import { checkNewAddresses } from '../../http/check-new-addresses.ts';
import { requireProofFor, requireProofToDelete } from '../../credentials/required-proof.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import { csvFormat, writeCsv } from './csv.ts';
import { heldFieldsOfMany } from './held-field.ts';
import { changing } from './known-targets.ts';
import type { FieldConfig, FieldMap } from '../passthrough-field.ts';
import type { MutationParts } from './mutations.ts';
import { withDeprecation } from './with-deprecation.ts';

/** The bulk mutations that a kind offers (`mutate`), by name. */
export function bulkMutationsOf(module: EntityModule, parts: MutationParts): FieldMap {
  const offered = module.mutate ?? [];
  return {
    ...(offered.includes('create') ? withDeprecation(module, 'create', createFields(module, parts)) : {}),
    ...(offered.includes('update') ? withDeprecation(module, 'update', updateFields(module, parts)) : {}),
    ...(offered.includes('delete')
      ? withDeprecation(module, 'delete', { [`deleteBulk${module.typeName}`]: deleteField(module, parts) })
      : {}),
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

const refusedInput = new GraphQLObjectType<RefusedInput, GraphqlContext>({
  name: 'RefusedInput',
  description: 'An input from which no record was created, and the reason.',
  fields: {
    index: { type: new GraphQLNonNull(GraphQLInt), description: 'Number of the input; the first is 0.' },
    code: { type: new GraphQLNonNull(GraphQLString), description: 'Error code; /docs/errors lists all codes.' },
    message: { type: new GraphQLNonNull(GraphQLString), description: 'The reason, as text for people.' },
  },
});

function createFields(module: EntityModule, parts: MutationParts): FieldMap {
  const plural = pluralOf(module);
  const records = { [plural]: recordsField(module, parts, 'createdIds') };
  const payload = new GraphQLNonNull(
    new GraphQLObjectType<RecordJson, GraphqlContext>({
      name: `CreateBulk${module.typeName}Payload`,
      fields: {
        ...records,
        notCreated: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(refusedInput))),
          description: 'Inputs from which no records were created, with reasons; empty without `skipRefused`.',
        },
      },
    }),
  );
  const csvPayload = new GraphQLNonNull(
    new GraphQLObjectType<RecordJson, GraphqlContext>({
      name: `CreateBulkCSV${module.typeName}Payload`,
      fields: records,
    }),
  );
  const inputs = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(parts.inputs.creation(module))));
  return {
    [`createBulk${module.typeName}`]: {
      type: payload,
      description: `Creates up to 1,000 ${module.typeName} records: either all of them or none, unless skipRefused is true.`,
      args: {
        inputs: { type: inputs, description: 'One input for each record.' },
        skipRefused: {
          type: new GraphQLNonNull(GraphQLBoolean),
          defaultValue: false,
          description:
            'Creates the records of the other inputs when some are refused, and lists the refused ones in notCreated.',
        },
      },
      resolve: async (_source, args: { inputs: readonly RecordJson[]; skipRefused: boolean }, context) => {
        checkRowCount(args.inputs.length, '/inputs');
        const creations = args.inputs.map((input, index) => parts.inputs.creationOf(module, input, `/${index}`));
        const check = (some: readonly Creation[]) => checkNewAddresses(context.services, some);
        const prove = () =>
          requireProofFor(
            askingOf(context),
            creations.map(({ input }) => ({ module, values: input })),
          );
        const { data } = context.unit;
        if (args.skipRefused) {
          const { created, refused } = await data.createEach(creations, check);
          if (created.length > 0) await prove();
          return { createdIds: created.map(({ id }) => id), notCreated: refused };
        }
        await check(creations);
        const created = await data.createAll(creations);
        await prove();
        return { createdIds: created.map(({ id }) => id), notCreated: [] };
      },
    },
    [`createBulkCSV${module.typeName}`]: {
      type: csvPayload,
      description: `Creates up to 1,000 ${module.typeName} records from CSV. Creates either all of them or none. ${csvFormat}`,
      args: { csv: { type: new GraphQLNonNull(GraphQLString), description: 'CSV document with a header line.' } },
      resolve: async (_source, { csv }: { csv: string }, context) => ({
        createdIds: await writeCsv(context, { registry: parts.registry, module, action: 'create' }, csv),
      }),
    },
  };
}

function updateFields(module: EntityModule, parts: MutationParts): FieldMap {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `UpdateBulkCSV${module.typeName}Payload`,
    fields: {
      [pluralOf(module)]: recordsField(module, parts, 'updatedIds'),
      updatedIds: { type: ids, description: 'Ids of the records, in the order of the document.' },
      ...heldFieldsOfMany(module, parts, ({ updatedIds }) => updatedIds as readonly string[]),
    },
  });
  return {
    [`updateBulk${module.typeName}`]: updateField(module, parts),
    [`updateBulkCSV${module.typeName}`]: {
      type: new GraphQLNonNull(payload),
      description: `Changes up to 1,000 ${module.typeName} records from CSV. Changes either all of them or none. The column ${keyColumns(module)} identifies the record that a row changes. ${csvFormat}`,
      args: { csv: { type: new GraphQLNonNull(GraphQLString), description: 'CSV document with a header line.' } },
      resolve: async (_source, { csv }: { csv: string }, context) => {
        const updatedIds = await writeCsv(context, { registry: parts.registry, module, action: 'update' }, csv);
        return { updatedIds };
      },
    },
  };
}

function keyColumns({ displayId }: EntityModule): string {
  return displayId === undefined ? '`id`' : '`id` or `displayId`';
}

function updateField(module: EntityModule, parts: MutationParts): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `UpdateBulk${module.typeName}Payload`,
    fields: {
      [pluralOf(module)]: recordsField(module, parts, 'updatedIds'),
      updatedIds: { type: ids, description: 'Ids of the changed records.' },
      notUpdated: { type: refusals, description: 'Records that were not changed, with reasons.' },
      ...heldFieldsOfMany(module, parts, ({ updatedIds }) => updatedIds as readonly string[]),
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
      values: parts.inputs.stored(module, args.input).values,
    })),
    resolve: async (_source, args: { ids: readonly string[]; input: RecordJson }, context) => {
      const { values, links } = parts.inputs.stored(module, args.input);
      const { changed, refused } = await context.unit.data.updateAllLinked(module, args.ids, values, links);
      if (changed.length > 0) await requireProofFor(askingOf(context), [{ module, values }]);
      return { updatedIds: changed, notUpdated: refused };
    },
  };
}

function deleteField(module: EntityModule, parts: MutationParts): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `DeleteBulk${module.typeName}Payload`,
    fields: {
      deletedIds: {
        type: ids,
        description: `Ids of the deleted records${module.automation ? ', without those whose deletion is held' : ''}.`,
      },
      notDeleted: { type: refusals, description: 'Records that were not deleted, with reasons.' },
      ...(module.automation ? heldFieldsOfMany(module, parts, ({ ids }) => ids as readonly string[]) : {}),
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Deletes up to 1,000 ${module.typeName} records together with their dependent records. Records that the caller may not delete are listed in notDeleted.`,
    args: { ids: { type: ids, description: 'Ids of the records to delete.' } },
    extensions: changing((args) => ({ module, ids: args.ids, operation: 'remove', values: {} })),
    resolve: async (_source, args: { ids: readonly string[] }, context) => {
      const { changed, refused } = await context.unit.data.removeAll(module, args.ids);
      if (changed.length > 0) await requireProofToDelete(askingOf(context), module);
      return { ids: args.ids, deletedIds: changed, notDeleted: refused };
    },
  };
}
