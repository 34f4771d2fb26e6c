import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { connectionOf, offeredDefinition } from '#activities/clients/integrations/definitions.ts';
import { integration } from '#entities/integrations/integration.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { beginConnecting } from '../../integrations/begin-connecting.ts';
import { openInstallation, wantedSettings } from '../../integrations/changeable-installation.ts';
import { asking as askingProvider } from '../../integrations/provider-refusals.ts';
import { fieldOf, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const startIntegrationAuth = defineAction({
  name: 'startIntegrationAuth',
  url: '/v1/integrations/auth/start',
  tag: 'Integrations',
  summary: 'Connect an integration by a sign-in at the other system',
  description:
    'Checks the settings, makes an integration that waits, or takes up one that waits under this name, and answers with the URL at the other system to which the browser goes. The sign-in there is bound to this browser by a cookie, and must be finished within ten minutes. An integration that nobody connects is removed after a week.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: {
    definitionId: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the definition.' }),
    integrationId: Type.Optional(idSchema('Id of the integration that is connected again; left out for a new one.')),
    name: Type.Optional(fieldOf(integration, 'name')),
    credentialRef: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Name of the credential; default: the first one that is made by a sign-in.',
      }),
    ),
    userInput: Type.Optional(Type.Unknown({ description: 'Settings, as the definition describes them.' })),
  },
  answer: {
    integration: recordOf(integration),
    authUrl: Type.String({ description: 'URL at the other system.' }),
  },
  title: 'StartedIntegration',
  errors: [
    'invalid_input',
    'not_found',
    'permission_denied',
    'already_exists',
    'payment_method_required',
    'integration_not_connected',
    'integration_refused',
    'integration_unavailable',
  ],
  outside: {
    prepare: async (asking, input) => {
      const config = asking.services.config.current;
      const definition = offeredDefinition(input.definitionId, config);
      const withSignIn = definition.connections.find((one) => one.auth !== undefined);
      if (!withSignIn)
        throw inputError([
          {
            path: '/definitionId',
            message: `has no sign-in at the other system; connect it with POST /v1/integrations/${definition.id}/config`,
          },
        ]);
      const { auth, credentialRef } = connectionOf(definition, input.credentialRef ?? withSignIn.credentialRef);
      if (!auth)
        throw inputError([
          {
            path: '/credentialRef',
            message: `is entered by a person; send it to POST /v1/integrations/${definition.id}/config`,
          },
        ]);
      const { held, userInput } = await wantedSettings(asking, definition, input);
      const callbackUrl = definition.callbackUrl?.(config) || `${publicApiUrl(config)}/v1/integrations/auth/callback`;
      return { definition, credentialRef, auth, heldId: held?.id, userInput, callbackUrl };
    },
    call: async ({ integrations }, { auth, ...plan }) => {
      const state = randomBytes(32).toString('base64url');
      const { callbackUrl, userInput } = plan;
      const begun = await askingProvider(() => auth.begin(integrations.opening(userInput), { state, callbackUrl }));
      return { ...plan, ...begun, state };
    },
  },
  run: async (asking, { name }, { heldId, definition, userInput, credentialRef, kept, url, state }) => {
    const { id } = await openInstallation(asking, definition, { id: heldId, name, userInput });
    await beginConnecting(asking, state, { integrationId: id, definitionId: definition.id, credentialRef, kept });
    return { integration: id, authUrl: url };
  },
});
