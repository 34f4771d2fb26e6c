import { GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { transferOrganization, type Transferred } from '../../people/transfer-organization.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because two roles change together, with the rights of the owner. */
export const transferOwnership: HandWrittenField = {
  on: 'Mutation',
  name: 'transferOwnership',
  build: (types) => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType<Transferred, GraphqlContext>({
        name: 'TransferOwnershipPayload',
        fields: {
          organization: {
            type: new GraphQLNonNull(types.objectOf(organization)),
            resolve: (source, _args, context, info) => types.read(organization, source.organization.id, context, info),
          },
          membership: {
            type: new GraphQLNonNull(types.objectOf(membership)),
            description: 'Membership of the new owner.',
            resolve: ({ membershipId }, _args, context, info) => types.read(membership, membershipId, context, info),
          },
        },
      }),
    ),
    description:
      'Makes another member an owner of the current organization; the caller, who is an owner, becomes an admin.',
    args: {
      id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the organization.' },
      userId: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the member who becomes an owner.' },
    },
    resolve: (_source, { id, userId }, context) =>
      transferOrganization(askingOf(context), { organizationId: id as string, userId: userId as string }, '/userId'),
  }),
};
