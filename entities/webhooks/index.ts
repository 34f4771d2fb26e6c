export { webhookEndpoint } from './webhook-endpoint.ts';
