import { GraphQLID, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { canHold } from '#entities/kit/write/change-behaviour.ts';
import type { HeldField } from '#entities/kit/write/change-work.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { FieldMap } from '../passthrough-field.ts';

const type = new GraphQLObjectType<HeldField & { readonly id: string }, GraphqlContext>({
  name: 'HeldField',
  description: 'A field of a change that is held: it keeps its value for now.',
  fields: {
    id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' },
    field: { type: new GraphQLNonNull(GraphQLString), description: 'Name of the field.' },
    message: { type: new GraphQLNonNull(GraphQLString), description: 'The reason, as text for people.' },
  },
});

/** The field `held` of the payload of a change; none for a kind that holds no fields. */
export function heldField(module: EntityModule): FieldMap {
  if (!canHold(module)) return {};
  return {
    held: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
      description: 'Fields of the change that are held. All others are written.',
    },
  };
}
