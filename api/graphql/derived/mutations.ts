import { GraphQLID, GraphQLInt, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { unlessHidden, type RecordJson } from '#entities/kit/unit/answers.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { checkNewAddresses } from '../../http/check-new-addresses.ts';
import { deletionNote, proofNote, requireProofFor, requireProofToDelete } from '../../credentials/required-proof.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { Types } from '../hand-written-field.ts';
import { changing } from './known-targets.ts';
import type { FieldConfig, FieldMap } from '../passthrough-field.ts';
import { heldFields } from './held-field.ts';
import type { InputTypes } from './inputs.ts';
import { withDeprecation } from './with-deprecation.ts';

/** Parts of the schema being derived that derived mutations need. */
export interface MutationParts extends Types {
  readonly inputs: InputTypes;
}

const recordVersion = {
  type: GraphQLInt,
  description: 'Expected record version; if the record has another version, the operation fails with stale_record.',
};

/** The mutations of one record that a kind offers (`mutate`), by name. */
export function mutationsOf(module: EntityModule, parts: MutationParts): FieldMap {
  const offered = module.mutate ?? [];
  return {
    ...(offered.includes('create')
      ? withDeprecation(module, 'create', { [`create${module.typeName}`]: createField(module, parts) })
      : {}),
    ...(offered.includes('update')
      ? withDeprecation(module, 'update', { [`update${module.typeName}`]: updateField(module, parts) })
      : {}),
    ...(offered.includes('delete')
      ? withDeprecation(module, 'delete', { [`delete${module.typeName}`]: deleteField(module, parts) })
      : {}),
  };
}

function createField(module: EntityModule, parts: MutationParts): FieldConfig {
  return {
    type: new GraphQLNonNull(recordPayload('Create', module, parts)),
    description: `Creates one ${module.typeName}.${proofNote(module, String)}`,
    args: { input: { type: new GraphQLNonNull(parts.inputs.creation(module)), description: 'Values of the record.' } },
    resolve: async (_source, { input }: { input: RecordJson }, context) => {
      const creation = parts.inputs.creationOf(module, input, '');
      await checkNewAddresses(context.services, [creation]);
      const [created] = await context.unit.data.createAll([creation]);
      await requireProofFor(askingOf(context), [{ module, values: creation.input }]);
      return { id: created?.['id'] };
    },
  };
}

function updateField(module: EntityModule, parts: MutationParts): FieldConfig {
  return {
    type: new GraphQLNonNull(recordPayload('Update', module, parts)),
    description: `Changes one ${module.typeName}.${proofNote(module, String)}`,
    args: {
      id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
      input: { type: new GraphQLNonNull(parts.inputs.change(module)), description: 'The change.' },
      recordVersion,
    },
    extensions: changing(({ id, input }) => ({
      module,
      ids: [id],
      operation: 'edit',
      values: parts.inputs.stored(module, input).values,
    })),
    resolve: async (_source, args: { id: string; input: RecordJson; recordVersion?: number | null }, context) => {
      const id = existingId(module, args.id);
      const { values, links } = parts.inputs.stored(module, args.input);
      await context.unit.data.updateLinked(module, id, values, links, args.recordVersion ?? undefined);
      await requireProofFor(askingOf(context), [{ module, values }]);
      return { id };
    },
  };
}

/**
 * Contains the created or changed record with the selected fields, and its id: a change that ends the caller's own view of the
 * record is valid, so it must not fail because the record cannot be read any more.
 */
function recordPayload(verb: 'Create' | 'Update', module: EntityModule, parts: MutationParts): GraphQLObjectType {
  const idName = verb === 'Create' ? 'createdId' : 'updatedId';
  return new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `${verb}${module.typeName}Payload`,
    fields: {
      [module.kind]: {
        type: parts.objectOf(module),
        description: `The record; null when the caller cannot view it after the change.`,
        resolve: (source, _args, context, info) =>
          unlessHidden(parts.read(module, source['id'] as string, context, info)),
      },
      [idName]: {
        type: new GraphQLNonNull(GraphQLID),
        description: 'Id of the record.',
        resolve: (source) => source['id'],
      },
      ...(verb === 'Update' ? heldFields(module, parts, ({ id }) => [id as string]) : {}),
    },
  });
}

function deleteField(module: EntityModule, parts: MutationParts): FieldConfig {
  const payload = new GraphQLObjectType<RecordJson, GraphqlContext>({
    name: `Delete${module.typeName}Payload`,
    fields: {
      deletedId: {
        type: new GraphQLNonNull(GraphQLID),
        description: `Id of the deleted record${module.automation ? '. If held names its deletion, the record is still there' : ''}.`,
      },
      ...(module.automation ? heldFields(module, parts, ({ deletedId }) => [deletedId as string]) : {}),
    },
  });
  return {
    type: new GraphQLNonNull(payload),
    description: `Deletes one ${module.typeName} together with its dependent records.${deletionNote(module)}`,
    args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' }, recordVersion },
    extensions: changing(({ id }) => ({ module, ids: [id], operation: 'remove', values: {} })),
    resolve: async (_source, args: { id: string; recordVersion?: number | null }, context) => {
      const deletedId = existingId(module, args.id);
      await context.unit.data.remove(module, deletedId, args.recordVersion ?? undefined);
      await requireProofToDelete(askingOf(context), module);
      return { deletedId };
    },
  };
}
