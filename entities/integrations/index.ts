export { integrationWebhook } from './integration-webhook.ts';
