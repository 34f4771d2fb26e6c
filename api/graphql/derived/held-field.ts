import { GraphQLID, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { proposalKindOf } from '#entities/kit/model/derived/proposal.ts';
import { canHold } from '#entities/kit/write/change-behaviour.ts';
import type { HeldField } from '#entities/kit/write/held-changes.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { Types } from '../hand-written-field.ts';
import type { FieldMap } from '../passthrough-field.ts';

const type = new GraphQLObjectType<HeldField & { readonly id: string }, GraphqlContext>({
  name: 'HeldField',
  description: 'A field of a change that is held: it keeps its value for now. Or a deletion that is held.',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
    field: { type: GraphQLString, description: 'Name of the field; null: the deletion of the record is held.' },
    message: { type: new GraphQLNonNull(GraphQLString), description: 'The reason, as text for people.' },
  },
});

/** Ids of the changed records in the payload of a change. */
type ChangedIds = (payload: Readonly<Record<string, unknown>>) => readonly string[];

/** The fields of the payload of a change about what is held of it: `held`, and `proposals` that wait for approvals. None for a kind that holds nothing. */
export function heldFields(module: EntityModule, types: Types, changedIn: ChangedIds): FieldMap {
  if (!canHold(module)) return {};
  return {
    held: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
      description: 'Fields of the change, and deletions, that are held. All others are written.',
      resolve: (source, _args, { unit }) => unit.data.heldOf(changedIn(source)),
    },
    ...(module.automation ? { proposals: proposalsField(module, types, changedIn) } : {}),
  };
}

/** The same of a change of many records, with their number. */
export function heldFieldsOfMany(module: EntityModule, types: Types, changedIn: ChangedIds): FieldMap {
  if (!canHold(module)) return {};
  return {
    ...heldFields(module, types, changedIn),
    heldCount: {
      type: new GraphQLNonNull(GraphQLInt),
      description: 'Number of records of which something is held.',
      resolve: (source, _args, { unit }) => new Set(unit.data.heldOf(changedIn(source)).map(({ id }) => id)).size,
    },
  };
}

function proposalsField(module: EntityModule, types: Types, changedIn: ChangedIds): FieldMap[string] {
  const proposals = types.registry.byKind(proposalKindOf(module));
  return {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(types.objectOf(proposals)))),
    description: 'Held changes, which are written when people approve them.',
    resolve: (source, _args, context, info) => {
      const held = context.unit.data.heldOf(changedIn(source));
      const ids = new Set(held.flatMap(({ proposal }) => proposal?.id ?? []));
      return types.readAll(proposals, [...ids], context, info);
    },
  };
}
