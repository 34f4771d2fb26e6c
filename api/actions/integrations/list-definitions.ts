import { Type, type TObject } from 'typebox';
import type { IntegrationDefinition } from '#activities/clients/integrations/definition.ts';
import { integrationDefinitions } from '#activities/clients/integrations/definitions.ts';
import { listOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const schemaOf = (description: string) => Type.Unknown({ description: `${description} It is a JSON Schema.` });

const nullableText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });

const connection = Type.Object(
  {
    credentialRef: Type.String({ description: 'Name of the credential, for requests that connect.' }),
    name: Type.String({ description: 'Name for people.' }),
    description: Type.String({ description: 'Purpose of the credential, and how people get it.' }),
    isRecommended: Type.Boolean({ description: 'Whether it is the recommended one of several.' }),
    hasSignIn: Type.Boolean({
      description:
        'Whether the credential is made by a sign-in at the other system (POST /v1/integrations/auth/start).',
    }),
    credential: schemaOf(
      'Fields that a person enters (`body` of POST /v1/integrations/{definition_id}/config); null if nothing is entered.',
    ),
  },
  { title: 'IntegrationCredentialType', description: 'A way to connect.' },
);

const operation = Type.Object(
  {
    name: Type.String({ description: 'Name of the operation.' }),
    description: Type.String({ description: 'Effect of the operation.' }),
    policy: Type.String({ description: 'inline: it answers in the request; run: it works as an integration run.' }),
    isLooped: Type.Boolean({ description: 'Whether it is repeated while the integration is connected.' }),
    ingests: Type.Array(Type.String(), { description: 'Kinds of the records that it brings in.' }),
    input: schemaOf('Input of the operation.'),
  },
  { title: 'IntegrationOperation', description: 'Something that an integration does.' },
);

const webhook = Type.Object(
  {
    name: Type.String({ description: 'Name of the endpoint.' }),
    description: Type.String({ description: 'Events that the other system sends there.' }),
    path: Type.String({ description: 'Path of its URL.' }),
  },
  { title: 'IntegrationDeclaredWebhook', description: 'Endpoint to which the other system sends events.' },
);

export const listIntegrationDefinitions = defineAction({
  name: 'integrationDefinitions',
  operationId: 'listIntegrationDefinitions',
  method: 'GET',
  url: '/v1/integration-definitions',
  tag: 'Integrations',
  summary: 'List the systems that can be connected',
  description:
    'The systems that the settings of the operator allow, in the order of their names, with what connecting them asks for and what they give.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  answer: listOf(
    Type.Object(
      {
        id: Type.String({ description: 'Id of the definition. It never changes.' }),
        version: Type.String({ description: 'Version of the definition.' }),
        name: Type.String({ description: 'Name of the system.' }),
        description: Type.String({ description: 'Use of the integration.' }),
        family: Type.String({ description: 'Family of systems, such as directory.' }),
        documentationUrl: nullableText('Address of further documentation.'),
        logo: Type.String({ description: 'Picture of the system as SVG text.' }),
        userInput: schemaOf('Settings of the organization (`userInput`).'),
        connections: Type.Array(connection, { description: 'Ways to connect.' }),
        operations: Type.Array(operation, { description: 'Operations of the integration.' }),
        webhooks: Type.Array(webhook, { description: 'Endpoints to which the other system sends events.' }),
      },
      { title: 'IntegrationDefinition', description: 'System that organizations can connect.' },
    ),
  ),
  errors: [],
  run: ({ services }) => {
    const config = services.config.current;
    return Promise.resolve(
      integrationDefinitions
        .filter((definition) => definition.isOffered(config))
        .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
        .map(described),
    );
  },
});

function described(definition: IntegrationDefinition) {
  const { id, version, name, description, family, documentationUrl = null, logo, userInput, webhooks } = definition;
  return {
    id,
    version,
    name,
    description,
    family,
    documentationUrl,
    logo,
    userInput: jsonOf(userInput),
    connections: definition.connections.map(({ auth, credential, isRecommended = false, ...one }) => ({
      credentialRef: one.credentialRef,
      name: one.name,
      description: one.description,
      isRecommended,
      hasSignIn: auth !== undefined,
      credential: credential ? jsonOf(credential) : null,
    })),
    operations: definition.operations.map((one) => ({
      name: one.name,
      description: one.description,
      policy: one.policy,
      isLooped: one.policy === 'run' && one.isLooped,
      ingests: one.policy === 'run' ? [...one.ingests] : [],
      input: jsonOf(one.input),
    })),
    webhooks: webhooks.map((one) => ({ name: one.name, description: one.description, path: one.path })),
  };
}

/** A schema as plain JSON: the library marks it with symbols. */
function jsonOf(schema: TObject): unknown {
  return JSON.parse(JSON.stringify(schema)) as unknown;
}
