import { GraphQLID, GraphQLNonNull } from 'graphql';
import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { rotateApiToken as rotateFor, rotatePersonalToken, type IssuedToken } from '../../credentials/issue-tokens.ts';
import { askingOf } from '../graphql-context.ts';
import type { Asking } from '../../credentials/asking.ts';
import type { HandWrittenField } from '../hand-written-field.ts';
import { issuedType } from './create-token.ts';

/** Hand-written, because the answer has the secret, which is stored nowhere. */
export const rotateApiToken = rotation(apiToken, rotateFor);

export const rotatePersonalAccessToken = rotation(personalAccessToken, rotatePersonalToken);

function rotation(
  module: EntityModule,
  rotate: (asking: Asking, id: string) => Promise<IssuedToken>,
): HandWrittenField {
  const name = `rotate${module.typeName}`;
  return {
    on: 'Mutation',
    answersCredential: true,
    name,
    ...(module.tenancy === 'organization' ? { acceptsSingleSignOn: true } : {}),
    build: (types) => ({
      type: new GraphQLNonNull(issuedType(types, module, name)),
      description:
        'Replaces the secret of a token; the old one stops working immediately. The token is shown in this response only.',
      args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the token.' } },
      resolve: (_source, { id }, context) => rotate(askingOf(context), id as string),
    }),
  };
}
