import { GraphQLBoolean, GraphQLID, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import type { Asking } from '../../credentials/asking.ts';
import { authorizeToken, deauthorizeToken, type TokenAuthorization } from '../../credentials/authorize-token.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because the session of the caller decides for which organizations a token can be authorized. */
export const authorizePersonalAccessToken = ofToken(
  'authorizePersonalAccessToken',
  'Makes a personal token valid in an organization although single sign-on is enforced there. The session of the caller must have begun with that single sign-on.',
  authorizeToken,
  { acceptsSingleSignOn: true },
);

export const deauthorizePersonalAccessToken = ofToken(
  'deauthorizePersonalAccessToken',
  'Undoes the authorization of a personal token: it is no longer valid where single sign-on is enforced.',
  deauthorizeToken,
);

function ofToken(
  name: string,
  description: string,
  act: (asking: Asking, id: string, organizationId: string) => Promise<TokenAuthorization>,
  session: Pick<HandWrittenField, 'acceptsSingleSignOn'> = {},
): HandWrittenField {
  return {
    on: 'Mutation',
    name,
    ...session,
    build: () => ({
      type: new GraphQLNonNull(
        new GraphQLObjectType<TokenAuthorization, GraphqlContext>({
          name: `${capitalized(name)}Payload`,
          fields: {
            tokenId: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the token.' },
            organizationId: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the organization.' },
            isAuthorized: {
              type: new GraphQLNonNull(GraphQLBoolean),
              description: 'Whether the token is valid there although single sign-on is enforced.',
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
