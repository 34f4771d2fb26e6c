import { Type } from 'typebox';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { newWebhookSecret } from '../../credentials/webhook-secrets.ts';
import { requireOrganizationProof } from '../../credentials/recent-proof.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const rotateIntegrationWebhook = defineAction({
  name: 'rotateIntegrationWebhook',
  url: '/v1/integration-webhooks/:id/rotate',
  tag: 'Integration webhooks',
  summary: 'Replace the secret of one integration webhook',
  description:
    'The old secret stops working immediately. The secret is shown in this response only. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.',
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: { id: idSchema('Id of the record.') },
  answer: {
    integrationWebhook: recordOf(integrationWebhook),
    secret: Type.String({ description: 'The secret with which the other system signs events.' }),
  },
  title: 'IssuedIntegrationWebhook',
  errors: ['not_found', 'permission_denied', 'step_up_required'],
  run: async (asking, { id }) => {
    const { unit, services } = asking;
    const held = await unit.data.findLocked(integrationWebhook, existingId(integrationWebhook, id));
    if (!held) throw missingRecord(integrationWebhook, id);
    const secret = newWebhookSecret();
    await unit.data.update(integrationWebhook, held.id, { secret, rotatedAt: services.clock.now() });
    await requireOrganizationProof(asking);
    return { integrationWebhook: held.id, secret };
  },
});
