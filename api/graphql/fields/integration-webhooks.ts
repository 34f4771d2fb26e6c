import {
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import {
  createIntegrationWebhook as createFor,
  rotateIntegrationWebhook as rotateFor,
  type IssuedSecret,
  type NewWebhook,
} from '../../credentials/webhook-secrets.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField, Types } from '../hand-written-field.ts';
import { Json } from '../scalars/json.ts';

const { fields } = integrationWebhook;

/** Hand-written, because the answer has the secret, which nobody can read afterwards. */
export const createIntegrationWebhook: HandWrittenField = {
  on: 'Mutation',
  name: 'createIntegrationWebhook',
  answersCredential: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(issuedType(types, 'createIntegrationWebhook')),
    description: 'Creates a receiver for events of an integration. The secret is shown in this answer only.',
    args: {
      input: {
        type: new GraphQLNonNull(
          new GraphQLInputObjectType({
            name: 'CreateIntegrationWebhookInput',
            fields: {
              integrationId: { type: new GraphQLNonNull(GraphQLID), description: fields.integrationId.description },
              name: { type: new GraphQLNonNull(GraphQLString), description: fields.name.description },
              provider: { type: GraphQLString, description: fields.provider.description },
              allowedEvents: {
                type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
                description: fields.allowedEvents.description,
              },
              externalId: { type: GraphQLString, description: fields.externalId.description },
              metadata: { type: Json, description: fields.metadata.description },
            },
          }),
        ),
      },
    },
    resolve: (_source, { input }, context) => createFor(askingOf(context), input as NewWebhook),
  }),
};

export const rotateIntegrationWebhook: HandWrittenField = {
  on: 'Mutation',
  name: 'rotateIntegrationWebhook',
  answersCredential: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(issuedType(types, 'rotateIntegrationWebhook')),
    description:
      'Replaces the secret of a receiver; the old one stops working immediately. The secret is shown in this response only.',
    args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the receiver.' } },
    resolve: (_source, { id }, context) => rotateFor(askingOf(context), id as string),
  }),
};

function issuedType(types: Types, mutation: string): GraphQLObjectType {
  return new GraphQLObjectType<IssuedSecret, GraphqlContext>({
    name: `${capitalized(mutation)}Payload`,
    fields: {
      integrationWebhook: {
        type: new GraphQLNonNull(types.objectOf(integrationWebhook)),
        resolve: ({ id }, _args, context, info) => types.read(integrationWebhook, id, context, info),
      },
      secret: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The secret with which the other system signs events. It is shown once.',
      },
    },
  });
}
