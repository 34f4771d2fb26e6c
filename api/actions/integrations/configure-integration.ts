import { Type } from 'typebox';
import { connectionOf, offeredDefinition } from '#activities/clients/integrations/definitions.ts';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { integration } from '#entities/integrations/integration.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { newWebhookSecret } from '../../credentials/webhook-secrets.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { checkedCredential } from '../../integrations/checked-settings.ts';
import { connect, openInstallation, wantedSettings } from '../../integrations/changeable-installation.ts';
import { asking as askingProvider } from '../../integrations/provider-refusals.ts';
import { fieldOf, orNull, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const configureIntegration = defineAction({
  name: 'configureIntegration',
  url: '/v1/integrations/:definitionId/config',
  tag: 'Integrations',
  summary: 'Connect an integration with a credential, or change its settings',
  description:
    'Connects with `body`, after the other system has accepted it; nothing is saved if it does not. Without `integrationId`, a new integration is made. Without `body`, only the settings (`userInput`) are changed, or a system that needs no credential is connected. Where the other system sends events or people to this server, the answer has the URL, and once the secret; for that, the user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: {
    definitionId: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the definition.' }),
    integrationId: Type.Optional(idSchema('Id of the integration; left out for a new one.')),
    name: Type.Optional(fieldOf(integration, 'name')),
    credentialRef: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Name of the credential; default: the first one.' }),
    ),
    body: Type.Optional(
      Type.Unknown({
        description: 'The credential, as the definition describes it. No response contains it.',
        writeOnly: true,
      }),
    ),
    userInput: Type.Optional(Type.Unknown({ description: 'Settings, as the definition describes them.' })),
  },
  answer: {
    integration: recordOf(integration),
    healthStatus: Type.String({
      description: 'ok: the other system has accepted the credential; pending: it was not asked.',
    }),
    healthSummary: orNull(Type.String({ description: 'Account at the other system.' })),
    webhookEndpointUrl: orNull(Type.String({ description: 'URL to which the other system sends.' })),
    webhookSecret: orNull(Type.String({ description: 'Secret with which it proves itself; shown once.' })),
  },
  title: 'ConfiguredIntegration',
  errors: [
    'invalid_input',
    'not_found',
    'permission_denied',
    'already_exists',
    'payment_method_required',
    'step_up_required',
    'integration_not_connected',
    'integration_refused',
    'integration_unavailable',
  ],
  outside: {
    prepare: async (asking, input) => {
      const definition = offeredDefinition(input.definitionId, asking.services.config.current);
      const { held, userInput } = await wantedSettings(asking, definition, input);
      const { credentialRef, ...connection } = connectionOf(
        definition,
        input.credentialRef ?? held?.credentialRef ?? definition.connections[0].credentialRef,
      );
      const needsNone = connection.credential === undefined && connection.auth === undefined;
      if (input.body !== undefined && connection.credential === undefined)
        throw inputError([{ path: '/body', message: 'is not accepted: this credential is not entered' }]);
      const credential =
        input.body === undefined || connection.credential === undefined
          ? undefined
          : checkedCredential(connection.credential, input.body);
      if (input.body === undefined && connection.credential !== undefined && !held)
        throw inputError([{ path: '/body', message: 'is required: the definition says what the credential has' }]);
      return {
        definition,
        heldId: held?.id,
        account: { accountId: held?.accountId ?? null, accountName: held?.accountName ?? null },
        userInput,
        credentialRef,
        credential: credential ?? (needsNone ? {} : undefined),
      };
    },
    call: async ({ integrations }, plan) => {
      const { definition, credentialRef, credential, userInput, account } = plan;
      if (credential === undefined) return { ...plan, checked: undefined };
      const context = integrations.context({ definitionId: definition.id, userInput, ...account }, credential);
      const checked = await askingProvider(() => connectionOf(definition, credentialRef).check(context));
      return { ...plan, checked };
    },
  },
  run: async (asking, input, plan) => {
    const { unit } = asking;
    const { definition, heldId, userInput, credentialRef, credential, checked } = plan;
    const data = unit.data.privileged('connect integration');
    const held = await openInstallation(asking, definition, { id: heldId, name: input.name, userInput });
    const done =
      credential === undefined || checked === undefined
        ? held
        : await connect(unit, definition, held, {
            credentialRef,
            credential,
            account: checked,
            responsibleId: signedInPerson(asking).userId,
          });
    const [webhook] = definition.webhooks;
    const found =
      webhook &&
      (await data.findOne(integrationWebhook, { integrationId: { eq: held.id }, provider: { eq: definition.id } }));
    let issued: { readonly id: string; readonly secret: string | null } | undefined = found && {
      id: found.id,
      secret: null,
    };
    if (webhook && !found) {
      const secret = newWebhookSecret();
      const made = await data.create(integrationWebhook, {
        organizationId: held.organizationId,
        integrationId: held.id,
        name: webhook.name,
        provider: definition.id,
        secret,
      });
      await requireOrganizationProof(asking);
      issued = { id: made.id, secret };
    }
    return {
      integration: held.id,
      healthStatus: done.status === 'connected' ? 'ok' : 'pending',
      healthSummary: done.accountName,
      webhookEndpointUrl:
        webhook && issued
          ? publicApiUrl(asking.services.config.current) + webhook.path.replace('{endpointId}', issued.id)
          : null,
      webhookSecret: issued?.secret ?? null,
    };
  },
});
