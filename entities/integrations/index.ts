export { integrationWebhook } from './integration-webhook.ts';
export { integration } from './integration.ts';
export { secret } from './secret.ts';
