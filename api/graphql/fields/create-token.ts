import {
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLInputFieldConfigMap,
} from 'graphql';
import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import {
  createApiToken as createFor,
  createPersonalToken as createForPerson,
  expiryDescription,
  scopesDescription,
  type IssuedToken,
  type NewPersonalToken,
} from '../../credentials/issue-tokens.ts';
import type { Asking } from '../../credentials/asking.ts';
import { DateTime } from '../scalars/date-time.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField, Types } from '../hand-written-field.ts';
import { capitalized } from '../capitalized.ts';

const words = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString)));

const inputFields: GraphQLInputFieldConfigMap = {
  name: { type: new GraphQLNonNull(GraphQLString), description: 'Name that says what the token is used for.' },
  description: { type: GraphQLString, description: 'Further information about the token.' },
  scopes: {
    type: words,
    description: scopesDescription,
  },
  expiresAt: { type: DateTime, description: expiryDescription },
};

/** Hand-written, because the answer has the secret, which is stored nowhere. */
export const createApiToken = creation(
  apiToken,
  'Creates an API token of the current organization. Nobody can give it more rights than they have. The token is shown in this answer only.',
  inputFields,
  createFor,
);

export const createPersonalAccessToken = creation(
  personalAccessToken,
  'Creates a token that acts for the signed-in user, within its scopes. The token is shown in this answer only.',
  {
    ...inputFields,
    organizationIds: {
      type: new GraphQLList(new GraphQLNonNull(GraphQLID)),
      description:
        'Ids of the organizations in which the token works; without them, it works in all organizations of the user.',
    },
  },
  createForPerson,
);

function creation(
  module: EntityModule,
  description: string,
  fields: GraphQLInputFieldConfigMap,
  create: (asking: Asking, input: NewPersonalToken) => Promise<IssuedToken>,
): HandWrittenField {
  const name = `create${module.typeName}`;
  return {
    on: 'Mutation',
    answersCredential: true,
    name,
    ...(module.tenancy === 'organization' ? { acceptsSingleSignOn: true } : {}),
    build: (types) => ({
      type: new GraphQLNonNull(issuedType(types, module, name)),
      description,
      args: {
        input: {
          type: new GraphQLNonNull(new GraphQLInputObjectType({ name: `${capitalized(name)}Input`, fields })),
        },
      },
      resolve: (_source, { input }, context) => create(askingOf(context), input as NewPersonalToken),
    }),
  };
}

/** A token that was created or rotated, with its secret. */
export function issuedType(types: Types, module: EntityModule, mutation: string): GraphQLObjectType {
  return new GraphQLObjectType<IssuedToken, GraphqlContext>({
    name: `${capitalized(mutation)}Payload`,
    fields: {
      [module.kind]: {
        type: new GraphQLNonNull(types.objectOf(module)),
        resolve: ({ id }, _args, context, info) => types.read(module, id, context, info),
      },
      token: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The token; send it in the Authorization header as bearer token. It is shown once.',
      },
    },
  });
}
