import { GraphQLInputObjectType, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

interface Input {
  readonly name: string;
  readonly displayName?: string | null;
  readonly description?: string | null;
}

/**
 * Hand-written, because it creates two records, and the second one, the membership, grants the caller rights on the first. Every
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
    description: 'Creates an organization. The caller becomes its owner.',
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
            },
          }),
        ),
      },
    },
    resolve: async (_source, { input }: { input: Input }, { unit }) => {
      const { kind, subjectId } = unit.context.caller;
      if (kind !== 'user' || subjectId === null)
        throw new AppError('permission_denied', 'Only users can create organizations; sign in first.');
      const data = unit.data.privileged('create organization');
      const created = await data.create(organization, { ...input, founderId: subjectId });
      await data.create(membership, { organizationId: created.id, userId: subjectId, role: 'owner' });
      return { id: created.id };
    },
  }),
};
