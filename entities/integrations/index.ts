export { integrationWebhook } from './integration-webhook.ts';
export { integration } from './integration.ts';
export { secret } from './secret.ts';
export { webhookEvent } from './webhook-event.ts';
