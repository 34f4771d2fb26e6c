export { integration } from './integration.ts';
export { secret } from './secret.ts';
