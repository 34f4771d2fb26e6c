import { Type } from 'typebox';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { newWebhookSecret } from '../../credentials/webhook-secrets.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { fieldOf, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Receivers are listed, renamed and deleted like all records. */
export const createIntegrationWebhook = defineAction({
  name: 'createIntegrationWebhook',
  url: '/v1/integration-webhooks',
  tag: 'Integration webhooks',
  summary: 'Create one integration webhook',
  description:
    'Creates a receiver for events of an integration. The secret is shown in this response only. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: {
    integrationId: fieldOf(integrationWebhook, 'integrationId'),
    name: fieldOf(integrationWebhook, 'name'),
    provider: Type.Optional(fieldOf(integrationWebhook, 'provider')),
    allowedEvents: Type.Optional(fieldOf(integrationWebhook, 'allowedEvents')),
    externalId: Type.Optional(fieldOf(integrationWebhook, 'externalId')),
    metadata: Type.Optional(fieldOf(integrationWebhook, 'metadata')),
  },
  answer: {
    integrationWebhook: recordOf(integrationWebhook),
    secret: Type.String({ description: 'The secret with which the other system signs events.' }),
  },
  title: 'IssuedIntegrationWebhook',
  status: 201,
  errors: ['not_found', 'permission_denied', 'no_current_organization', 'already_exists', 'step_up_required'],
  run: async (asking, input) => {
    const secret = newWebhookSecret();
    const { id } = await asking.unit.data.create(integrationWebhook, { ...input, secret });
    // After the creation, which says why somebody may not create it at all.
    await requireOrganizationProof(asking);
    return { integrationWebhook: id, secret };
  },
});
