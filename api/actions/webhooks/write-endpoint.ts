import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { requiresProof } from '../../credentials/required-proof.ts';
import type { SharedValue } from '../../http/description/shared-values.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { changeEndpoint, createEndpoint, rotateEndpoint } from '../../webhooks/change-endpoint.ts';
import { expectedVersion, fieldOf, recordOf } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const listOf = (shared: SharedValue) => ({
  [describedKeyword]: { minItems: 1, items: { type: 'string', [describedKeyword]: { shared } } },
});

// The API description allows fewer values than the fields. The data layer refuses the others.
const needed = {
  name: fieldOf(webhookEndpoint, 'name'),
  url: fieldOf(webhookEndpoint, 'url', {
    [describedKeyword]: { format: 'uri', pattern: '^https?://[^@/?#]+([/?][^#]*)?#?$' },
  }),
  topics: fieldOf(webhookEndpoint, 'topics', listOf('EventTopicPattern')),
  scopes: fieldOf(webhookEndpoint, 'scopes', listOf('EndpointScope')),
};
const optional = {
  description: Type.Optional(fieldOf(webhookEndpoint, 'description')),
  ordering: Type.Optional(fieldOf(webhookEndpoint, 'ordering')),
  maxInFlight: Type.Optional(fieldOf(webhookEndpoint, 'maxInFlight')),
  maxPerSecond: Type.Optional(fieldOf(webhookEndpoint, 'maxPerSecond')),
  includesRecord: Type.Optional(fieldOf(webhookEndpoint, 'includesRecord')),
};

const issued = {
  webhookEndpoint: recordOf(webhookEndpoint),
  secret: Type.String({ description: 'The secret with which messages are signed.' }),
};
const once =
  'The secret is shown in this response only. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.';

/** Endpoints are listed, read and deleted like all records. */
export const createWebhookEndpoint = defineAction({
  name: 'createWebhookEndpoint',
  url: '/v1/webhook-endpoints',
  tag: 'Webhook endpoints',
  summary: 'Create one webhook endpoint',
  description: `Creates an endpoint to which events are sent. Nobody can give it scopes beyond their own rights. ${once}`,
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: { ...needed, ...optional },
  answer: issued,
  title: 'IssuedWebhookEndpoint',
  status: 201,
  errors: ['permission_denied', 'already_exists', 'step_up_required', 'limit_exceeded'],
  run: async (asking, input) => {
    const { id, secret } = await createEndpoint(asking, input);
    return { webhookEndpoint: id, secret };
  },
});

export const updateWebhookEndpoint = defineAction({
  name: 'updateWebhookEndpoint',
  method: 'PATCH',
  url: '/v1/webhook-endpoints/:id',
  tag: 'Webhook endpoints',
  summary: 'Update one webhook endpoint',
  description: `Omitted fields stay unchanged; null clears an optional field. Changing the URL, topics or scopes, or including records, ${requiresProof}`,
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the endpoint.'),
    name: Type.Optional(needed.name),
    url: Type.Optional(needed.url),
    topics: Type.Optional(needed.topics),
    scopes: Type.Optional(needed.scopes),
    ...optional,
    status: Type.Optional(fieldOf(webhookEndpoint, 'status')),
    recordVersion: expectedVersion,
  },
  answer: { webhookEndpoint: recordOf(webhookEndpoint) },
  errors: [
    'not_found',
    'permission_denied',
    'already_exists',
    'step_up_required',
    'stale_record',
    'precondition_failed',
  ],
  run: async (asking, { id, recordVersion, ...changes }) => ({
    webhookEndpoint: (await changeEndpoint(asking, id, changes, recordVersion)).id,
  }),
});

export const rotateWebhookEndpoint = defineAction({
  name: 'rotateWebhookEndpoint',
  url: '/v1/webhook-endpoints/:id/rotate',
  tag: 'Webhook endpoints',
  summary: 'Replace the secret of one webhook endpoint',
  description: `For 24 hours, messages are signed with the former secret as well. ${once}`,
  acceptsSingleSignOn: true,
  answersCredential: true,
  input: { id: idSchema('Id of the endpoint.') },
  answer: issued,
  title: 'IssuedWebhookEndpoint',
  errors: ['not_found', 'permission_denied', 'step_up_required'],
  run: async (asking, { id }) => {
    const rotated = await rotateEndpoint(asking, id);
    return { webhookEndpoint: rotated.id, secret: rotated.secret };
  },
});
