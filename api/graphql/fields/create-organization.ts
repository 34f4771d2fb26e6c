import { GraphQLID, GraphQLInputObjectType, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { organization } from '#entities/organizations/organization.ts';
import { foundOwnOrganization, type NewOrganization } from '../../people/found-own-organization.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/**
 * Hand-written, because it creates several records, and one of them, the membership, grants the caller rights on the others. Every
 * signed-in user may do so.
 */
export const createOrganization: HandWrittenField = {
  on: 'Mutation',
  name: 'createOrganization',
  build: (types) => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType({
        name: 'CreateOrganizationPayload',
        fields: {
          organization: {
            type: new GraphQLNonNull(types.objectOf(organization)),
            resolve: ({ id }: { id: string }, _args, context: GraphqlContext, info) =>
              types.read(organization, id, context, info),
          },
        },
      }),
    ),
    description:
      'Creates an organization with its settings, its managed groups and the entity types of this installation. The caller becomes its owner.',
    args: {
      input: {
        type: new GraphQLNonNull(
          new GraphQLInputObjectType({
            name: 'CreateOrganizationInput',
            fields: {
              name: {
                type: new GraphQLNonNull(GraphQLString),
                description: 'Name; unique among the organizations that you created.',
              },
              displayName: { type: GraphQLString, description: 'Display name.' },
              description: { type: GraphQLString, description: 'Description of the organization.' },
              parentId: {
                type: GraphQLID,
                description: 'Id of the organization of which it becomes a part; you act in it, and manage it.',
              },
            },
          }),
        ),
      },
    },
    resolve: async (_source, { input }: { input: NewOrganization }, { unit }) => ({
      id: (await foundOwnOrganization(unit, input, '/parentId')).id,
    }),
  }),
};
