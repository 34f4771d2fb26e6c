import { GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { Asking } from '../../credentials/asking.ts';
import { authorizeToken, deauthorizeToken } from '../../credentials/authorize-token.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because the session of the caller decides for which organizations a token can be authorized. */
export const authorizePersonalAccessToken = ofToken(
  'authorizePersonalAccessToken',
  'Lets a personal token count in an organization although single sign-on is enforced there. The session of the caller must have begun with that single sign-on.',
  authorizeToken,
);

export const deauthorizePersonalAccessToken = ofToken(
  'deauthorizePersonalAccessToken',
  'Undoes the authorization of a personal token: it no longer counts where single sign-on is enforced.',
  deauthorizeToken,
);

function ofToken(
  name: string,
  description: string,
  act: (asking: Asking, id: string, organizationId: string) => Promise<{ readonly id: string }>,
): HandWrittenField {
  return {
    on: 'Mutation',
    name,
    build: (types) => ({
      type: new GraphQLNonNull(
        new GraphQLObjectType<{ readonly id: string }, GraphqlContext>({
          name: `${capitalized(name)}Payload`,
          fields: {
            personalAccessToken: {
              type: new GraphQLNonNull(types.objectOf(personalAccessToken)),
              resolve: ({ id }, _args, context, info) => types.read(personalAccessToken, id, context, info),
            },
          },
        }),
      ),
      description,
      args: {
        id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the token.' },
        organizationId: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the organization.' },
      },
      resolve: (_source, { id, organizationId }, context) =>
        act(askingOf(context), id as string, organizationId as string),
    }),
  };
}
