import { GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { invite, maxResends } from '#entities/organizations/invite.ts';
import { resendInvite as resend, withdrawInvite as withdraw } from '../../people/open-invites.ts';
import type { Asking } from '../../credentials/asking.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because it raises `round`, which nobody may set. */
export const resendInvite = ofInvite(
  'resendInvite',
  `Sends a new link, which works for 14 days; older links stop working. An invitation can be sent again ${maxResends} times, also after it has expired.`,
  resend,
);

export const withdrawInvite = ofInvite(
  'withdrawInvite',
  'Ends the links of an invitation; the address can be invited again.',
  withdraw,
);

function ofInvite(
  name: string,
  description: string,
  act: (asking: Asking, id: string) => Promise<{ readonly id: string }>,
): HandWrittenField {
  return {
    on: 'Mutation',
    name,
    acceptsSingleSignOn: true,
    build: (types) => ({
      type: new GraphQLNonNull(
        new GraphQLObjectType<{ readonly id: string }, GraphqlContext>({
          name: `${capitalized(name)}Payload`,
          fields: {
            invite: {
              type: new GraphQLNonNull(types.objectOf(invite)),
              resolve: ({ id }, _args, context, info) => types.read(invite, id, context, info),
            },
          },
        }),
      ),
      description,
      args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the invitation.' } },
      resolve: async (_source, { id }, context) => ({ id: (await act(askingOf(context), id as string)).id }),
    }),
  };
}
